"""The cluster's certificate authorities, certificates and kubeconfigs; knows nothing of who uses them."""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Sequence
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = datetime.timedelta(days=1)


class Authority:
    """Signs certificates for names of its own folder: NAME.crt and NAME.key, in PEM."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            self._builder(self._subject, self._key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.file = folder / f"{name}.crt"
        self.key_file = folder / f"{name}.key"
        _write(self.file, certificate.public_bytes(serialization.Encoding.PEM))
        _write(self.key_file, _pem(self._key))

    def client(self, name: str, user: str, group: str = "") -> None:
        """A certificate with which `name` is this user, of this group."""
        attributes = [x509.NameAttribute(NameOID.COMMON_NAME, user)]
        if group:
            attributes.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
        self._issue(name, x509.Name(attributes), ExtendedKeyUsageOID.CLIENT_AUTH, ())

    def server(self, name: str, addresses: Sequence[str]) -> None:
        """A certificate for these names and IP addresses."""
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._issue(name, subject, ExtendedKeyUsageOID.SERVER_AUTH, addresses)

    def _issue(self, name: str, subject: x509.Name, usage: x509.ObjectIdentifier, addresses: Sequence[str]) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(subject, key).add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if addresses:
            builder = builder.add_extension(x509.SubjectAlternativeName(list(map(_general, addresses))), critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        _write(self._folder / f"{name}.crt", certificate.public_bytes(serialization.Encoding.PEM))
        _write(self._folder / f"{name}.key", _pem(key))

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - DAY)
            .not_valid_after(now + DAY)
        )


def make_signing_key(folder: Path, name: str) -> None:
    """A key pair for the tokens of service accounts: NAME.key and NAME.pub."""
    key = ec.generate_private_key(ec.SECP256R1())
    _write(folder / f"{name}.key", _pem(key))
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    _write(folder / f"{name}.pub", key.public_key().public_bytes(serialization.Encoding.PEM, form))


def write_kubeconfig(folder: Path, name: str, authority: Authority, server: str) -> Path:
    """NAME.kubeconfig, for whoever has the certificate NAME."""
    user = {"client-certificate": str(folder / f"{name}.crt"), "client-key": str(folder / f"{name}.key")}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": name}}],
        "clusters": [{"name": "test", "cluster": {"server": server, "certificate-authority": str(authority.file)}}],
        "users": [{"name": name, "user": user}],
    }
    file = folder / f"{name}.kubeconfig"
    _write(file, yaml.safe_dump(config).encode())
    return file


def _general(address: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(address))
    except ValueError:
        return x509.DNSName(address)


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def _write(file: Path, content: bytes) -> None:
    file.touch(mode=0o600)
    file.write_bytes(content)
