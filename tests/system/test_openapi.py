"""A source of type api, from a spec in a folder to operations that are searched and the spec that is read whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from models import build_tiny_model
from system.desks import SETTLE_SECONDS, DeskProcess, running, ticks

pytestmark = pytest.mark.slow

SPEC = """openapi: 3.0.3
info: {title: Shop, version: "2.1"}
paths:
  /orders:
    get:
      tags: [Orders]
      summary: List orders
      description: Lists what a customer has ordered, the newest first.
      responses: {"200": {description: A page of orders}}
    post:
      tags: [Orders]
      summary: Place an order
      requestBody:
        content:
          application/json:
            schema: {$ref: "#/components/schemas/Order"}
      responses: {"201": {description: Created}}
  /refunds/{id}:
    delete:
      summary: Cancel a refund
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {"204": {description: Gone}}
components:
  schemas:
    Order:
      type: object
      properties:
        number: {type: integer}
        parent: {$ref: "#/components/schemas/Order"}
"""
PAGES = [
    "shop.yaml",
    "shop.yaml/delete-refunds-id.md",
    "shop.yaml/orders/get-orders.md",
    "shop.yaml/orders/post-orders.md",
    "shop.yaml/overview.md",
]


def call(desk: DeskProcess, tool: str, **arguments: Any) -> Any:
    return json.loads(desk.call(tool, arguments, "/mcp/default/site")["content"][0]["text"])


def until(desk: DeskProcess, holds: Any) -> None:
    for _ in ticks(SETTLE_SECONDS, every=0.2):
        if holds():
            return
    raise AssertionError(desk.tail())


def test_operations_are_pages_the_spec_is_kept_whole_and_a_spec_that_turns_bad_keeps_its_pages(tmp_path: Path) -> None:
    docs = tmp_path / "api"
    docs.mkdir()
    (docs / "shop.yaml").write_text(SPEC, encoding="utf-8")
    config = tmp_path / "config.yaml"
    source = {"name": "shop", "path": str(docs), "type": "api"}
    config.write_text(yaml.safe_dump({"projects": {"default": {"sources": [source]}}}), encoding="utf-8")
    arguments = ("--docs", "", "--config", str(config))
    desk = DeskProcess(docs, tmp_path / "data", build_tiny_model(tmp_path / "model"), arguments=arguments)

    def text_of(page: str) -> str:
        return desk.text("read_document", {"path": f"shop/{page}"})

    with running(desk):
        desk.wait_until_settled(len(PAGES))
        listed = desk.text("list_topics", {})
        assert all(page.rpartition("/")[2] in listed for page in PAGES)
        post = text_of("shop.yaml/orders/post-orders.md")
        assert "POST /orders" in post
        assert "number" in post
        found = call(desk, "search_api", query="cancel a refund", mode="keyword")["results"]
        assert found[0]["path"].endswith("/delete-refunds-id/")
        assert call(desk, "search_docs", query="cancel a refund", mode="keyword")["results"] == []
        spec = call(desk, "get_openapi_spec", setId="shop")
        assert (spec["content"].strip(), spec["path"], spec["title"]) == (SPEC.strip(), "/shop/shop.yaml", "Shop")

        (docs / "shop.yaml").write_text(SPEC.replace("Cancel a refund", "Withdraw a refund"), encoding="utf-8")
        until(desk, lambda: "Withdraw" in text_of("shop.yaml/delete-refunds-id.md"))
        assert "Withdraw" in call(desk, "get_openapi_spec", setId="shop")["content"]

        (docs / "shop.yaml").write_text("openapi: 3.0.3\npaths: {a: &a [*a, *a]}\n", encoding="utf-8")
        until(desk, lambda: "shop.yaml" in str(desk.status()["reports"]))
        assert "Withdraw" in text_of("shop.yaml/delete-refunds-id.md")

        (docs / "shop.yaml").write_text(SPEC.replace("    post:\n", "    put:\n"), encoding="utf-8")
        until(desk, lambda: "put-orders.md" in desk.text("list_topics", {}))
        until(desk, lambda: "post-orders.md" not in desk.text("list_topics", {}))
        assert desk.stop() == 0
