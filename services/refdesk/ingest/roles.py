"""What a project's generations are followed for, and what the catalog says after each move; pure, knows no engine and no document.

Every function takes the project as it was read and answers with the project to put, conditional on the revision that was read.
"""

from __future__ import annotations

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.errors import AlreadyExists, InvalidArgument, Unavailable
from refdesk.generation import read_name


def built(project: pb.Project, generation: str, *, hold_switch: bool) -> pb.Project:
    """Follows a new generation, to take over.

    Raises: InvalidArgument for one that is followed already; AlreadyExists where another is being built; Unavailable while it is dropped.
    """
    if generation == project.live_generation:
        raise InvalidArgument(
            f"generation {generation} answers project {project.slug} already: name another model or another chunker"
        )
    if generation in _rollbacks(project):
        raise InvalidArgument(
            f"generation {generation} of project {project.slug} is followed for rollback: switch to it, nothing needs building"
        )
    if project.building_generation not in ("", generation):
        raise AlreadyExists(
            f"generation {project.building_generation} of project {project.slug} is being built: drop that one first"
        )
    if any(one.generation == generation and not one.dropped_once for one in project.dropped_generations):
        raise Unavailable(f"generation {generation} of project {project.slug} is being dropped: try again in a minute")
    changed = _copy(project)
    changed.building_generation, changed.hold_switch = generation, hold_switch
    _forget_dropped(changed, generation)
    return _follow(changed)


def switched(project: pb.Project, generation: str, until_milliseconds: int) -> pb.Project:
    """Has a followed generation answer; the one that did stays followed until a time."""
    before = project.live_generation
    changed = _copy(project)
    changed.live_generation = generation
    changed.model_id = read_name(generation)[0]
    if changed.building_generation == generation:
        changed.building_generation, changed.hold_switch = "", False
    kept = [one for one in project.rollback_generations if one.generation != generation]
    del changed.rollback_generations[:]
    changed.rollback_generations.extend(kept)
    changed.rollback_generations.add(generation=before, until_milliseconds=until_milliseconds)
    return _follow(changed)


def unfollowed(project: pb.Project, generation: str, now_milliseconds: int) -> pb.Project:
    """Follows a generation no more, so that it is dropped."""
    changed = _copy(project)
    if changed.building_generation == generation:
        changed.building_generation, changed.hold_switch = "", False
    kept = [one for one in project.rollback_generations if one.generation != generation]
    del changed.rollback_generations[:]
    changed.rollback_generations.extend(kept)
    _forget_dropped(changed, generation)
    changed.dropped_generations.add(generation=generation, since_milliseconds=now_milliseconds)
    return _follow(changed)


def dropped(project: pb.Project, generation: str, *, for_good: bool) -> pb.Project:
    """Notes that a generation was dropped once, or forgets it for good."""
    changed = _copy(project)
    for one in changed.dropped_generations:
        one.dropped_once = one.dropped_once or one.generation == generation
    if for_good:
        _forget_dropped(changed, generation)
    return changed


def find_followed(project: pb.Project, generation: str) -> str:
    """The generation that is meant: the one that is named, else the one that is being built.

    Raises: InvalidArgument where it is not followed.
    """
    wanted = generation or project.building_generation
    if not wanted:
        raise InvalidArgument(f"no generation of project {project.slug} is being built: name one")
    if wanted not in project.followed_generations:
        followed = ", ".join(project.followed_generations)
        raise InvalidArgument(f"generation {wanted} of project {project.slug} is not followed any more, but {followed}")
    return wanted


def find_previous(project: pb.Project) -> str:
    """The generation that answered last. Raises: InvalidArgument where none is followed for rollback."""
    if not project.rollback_generations:
        raise InvalidArgument(
            f"no generation of project {project.slug} is followed for rollback any more: build one anew"
        )
    return project.rollback_generations[-1].generation


def list_expired(project: pb.Project, now_milliseconds: int) -> list[str]:
    """Generations whose time for rollback is over."""
    return [one.generation for one in project.rollback_generations if one.until_milliseconds <= now_milliseconds]


def _rollbacks(project: pb.Project) -> list[str]:
    return [one.generation for one in project.rollback_generations]


def _follow(project: pb.Project) -> pb.Project:
    """Sets what is followed: the live one first, since publishing and vectors take them in this order."""
    names = [project.live_generation, project.building_generation, *reversed(_rollbacks(project))]
    project.followed_generations[:] = dict.fromkeys(filter(None, names))
    return project


def _forget_dropped(project: pb.Project, generation: str) -> None:
    kept = [one for one in project.dropped_generations if one.generation != generation]
    del project.dropped_generations[:]
    project.dropped_generations.extend(kept)


def _copy(project: pb.Project) -> pb.Project:
    changed = pb.Project()
    changed.CopyFrom(project)
    return changed
