# SPDX-License-Identifier: Apache-2.0
"""Further sizes of large originals: from the intermediate that the second size stored, compared with the original."""

import statistics
import subprocess
import time

from . import load, servers, settings
from .process import Wrong

PAUSE_SECONDS = 0.3
WINDOW = 8
FORMATS = {"jpeg": "&format=jpeg&quality=80", "webp": "&format=webp&quality=79"}
# Widths as pages request them, and two before those.
SIZES = (800, 640, 480, 400, 320, 240, 200, 160)
BEFORE = (790, 780)
CASES = (
    ("JPEG photo → JPEG", "photo/*.jpg", "jpeg"),
    ("JPEG photo → WebP", "photo/*.jpg", "webp"),
    ("progressive JPEG → JPEG", "prog/*.jpg", "jpeg"),
    ("PNG with alpha → WebP", "png/[cd]*.png", "webp"),
)


def rows(folder, origin, report):
    """Each row is a name, the measured value, and the goal in words."""
    for number, case in enumerate(CASES):
        if settings.ONLY in case[0]:
            report(*_row(folder, origin, number, *case))


def _row(folder, origin, number, name, pattern, form):
    sources = sorted(settings.CORPUS.glob(pattern))
    if not sources:
        raise Wrong(f"the corpus has no {pattern}")
    daemons = {
        way: servers.daemon(f"variants{number}{way}", folder, origin.port, TRANSFORM_INTERMEDIATES_ENABLED=on)
        for way, on in (("derived", "true"), ("direct", "false"))}
    try:
        for way, daemon in daemons.items():
            kind = _entries(daemon, "intermediate")
            for source in sources:
                for size in BEFORE:
                    _ask(daemon, source, form, size)
            made = _entries(daemon, "intermediate") - kind
            if made != (len(sources) if way == "derived" else 0):
                raise Wrong(f"{name}: {made} intermediates of {len(sources)} originals, {way}")
        return (name,) + _compared(folder, daemons, sources, form)
    finally:
        for daemon in daemons.values():
            daemon.close()


def _compared(folder, daemons, sources, form):
    spent = {way: [] for way in daemons}
    likenesses = []
    for turn in range(settings.ROUNDS):
        for way in list(daemons)[::1 if turn % 2 else -1]:
            spent[way].append(_cost(daemons[way], sources, form, turn))
    for source in sources[:4]:
        for size in SIZES[:3]:
            pictures = [_ask(daemon, source, form, size) for daemon in daemons.values()]
            likenesses.append(_likeness(folder, form, *pictures))
    derived, direct = (statistics.median(spent[way]) for way in ("derived", "direct"))
    seen = f"{derived:.1f} ms, directly {direct:.1f}: {direct / derived:.1f} × cheaper, SSIM ≥ {min(likenesses):.4f}"
    return seen, "≥ 3 ×, ≥ 0.98"


def _cost(daemon, sources, form, turn):
    """Returns the CPU milliseconds of the daemon and its workers for one picture."""
    before = daemon.cpu_seconds()
    for size in SIZES:
        for source in sources:
            _ask(daemon, source, form, size, turn + 1)
    time.sleep(PAUSE_SECONDS)
    return (daemon.cpu_seconds() - before) / (len(SIZES) * len(sources)) * 1000


def _ask(daemon, source, form, size, turn=0):
    """A box whose height has no effect makes it another result with the same work."""
    box = f"resize:{size}x{30_000 - turn if turn else ''}"
    path = daemon.path(str(source.relative_to(settings.CORPUS)), f"&transform={box}{FORMATS[form]}")
    answer = load.ask(daemon.port, path)
    load.expect(answer, 200, None, path)
    return answer.body


def _entries(daemon, kind):
    text = load.ask(daemon.port, "/metrics").body.decode()
    line = f'imageproxyd_cache_entries{{tier="disk",kind="{kind}"}} '
    return sum(float(row[len(line):]) for row in text.splitlines() if row.startswith(line))


def _likeness(folder, form, one, two):
    """The structural similarity of brightness over windows of 8 × 8 (Wang et al. 2004)."""
    a, b = (_grey(folder / f"variant{index}.{form}", body) for index, body in enumerate((one, two)))
    if a[:2] != b[:2]:
        raise Wrong(f"{a[:2]} pixels, directly {b[:2]}")
    width, height = a[:2]
    windows = [
        _window(a[2], b[2], width, left, top)
        for top in range(0, height - WINDOW + 1, WINDOW) for left in range(0, width - WINDOW + 1, WINDOW)]
    return statistics.fmean(windows)


def _window(a, b, width, left, top):
    xs, ys = [], []
    for y in range(top, top + WINDOW):
        start = y * width + left
        xs += a[start:start + WINDOW]
        ys += b[start:start + WINDOW]
    count = len(xs)
    mean_x, mean_y = sum(xs) / count, sum(ys) / count
    spread_x = sum(x * x for x in xs) / count - mean_x * mean_x
    spread_y = sum(y * y for y in ys) / count - mean_y * mean_y
    shared = sum(x * y for x, y in zip(xs, ys)) / count - mean_x * mean_y
    small, smaller = 6.5025, 58.5225
    return ((2 * mean_x * mean_y + small) * (2 * shared + smaller)
            / ((mean_x ** 2 + mean_y ** 2 + small) * (spread_x + spread_y + smaller)))


def _grey(path, body):
    path.write_bytes(body)
    flat, grey = path.with_suffix(".flat.v"), path.with_suffix(".grey.v")
    for command in (["flatten", path, flat], ["colourspace", flat, grey, "b-w"], ["rawsave", grey, f"{path}.raw"]):
        result = subprocess.run(["vips"] + [str(part) for part in command], capture_output=True, text=True)
        if result.returncode != 0 and command[0] == "flatten":
            flat = path  # no alpha to flatten
            subprocess.run(["vips", "copy", path, path.with_suffix(".flat.v")], check=True)
        elif result.returncode != 0:
            raise Wrong(f"vips {command[0]}: {result.stderr}")
    sizes = subprocess.check_output(["vipsheader", "-a", str(grey)], text=True)
    facts = dict(line.split(": ", 1) for line in sizes.splitlines() if line.startswith(("width", "height")))
    with open(f"{path}.raw", "rb") as file:
        return int(facts["width"]), int(facts["height"]), file.read()
