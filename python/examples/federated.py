"""Three sites that keep their rows: statistics travel, one site trains, each forecasts for itself.

What a file of statistics tells about the rows behind it is in docs/federated.md: no anonymity is claimed.
"""

import json
import struct

import numpy as np

from foretask import MultiTaskClassifier, Statistics, Study

FEATURES, SITES = 12, {"lyon": 900, "oslo": 700, "turin": 60}
rng = np.random.default_rng(5)
difference = 0.35 * rng.standard_normal(FEATURES)


def rows_of(count):
    """Return the rows of a site, which no other site sees."""
    y = np.where(rng.random(count) < 0.5, "sick", "well")
    drift = 0.1 * rng.standard_normal(FEATURES)
    return rng.standard_normal((count, FEATURES)) + np.outer(y == "sick", difference + drift), y


def listed(content):
    """Return what a file of statistics holds: every table with its shape and bytes, and the header."""
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + size])
    about = header.pop("__metadata__")
    tables = {name: (entry["shape"], np.diff(entry["data_offsets"])[0]) for name, entry in header.items()}
    assert 8 + size + sum(bytes_ for _, bytes_ in tables.values()) == len(content)
    return size + 8, about, tables


own = {site: rows_of(count) for site, count in SITES.items()}

# Each site, for itself: what it sends to the others. No rows are kept beyond what the scatter holds.
sent = {site: Statistics().add(X, y, site).to_bytes() for site, (X, y) in own.items()}
for site, content in sent.items():
    header, _, tables = listed(content)
    print(f"{site} sends {len(content)} bytes: a header of {header}, and")
    for name, (shape, size) in sorted(tables.items()):
        print(f"    {name:10} {' x '.join(map(str, shape)):8} {size:6} bytes")

# Each site trains for itself: its own rows, which never leave it, with what the others sent.
models = {}
for site, (X, y) in own.items():
    known = Statistics(target=site).add(X, y, site)
    for other in sorted(sent.keys() - {site}):
        known.merge(Statistics.from_bytes(sent[other]))
    study = Study.from_statistics(known, target=site)
    models[site] = study.classifier()
    print(f"{site}: expected error {study.forecast().error:.1%}")

# Or one of them trains for all, from what was sent alone: a theory needs no row at all.
union = Statistics()
for site in sorted(sent):
    union.merge(Statistics.from_bytes(sent[site]))
central = MultiTaskClassifier(theory="common").fit_from_statistics(union)
for site, forecast in central.forecast_.items():
    print(f"trained from the files alone, {site}: expected error {forecast.error:.1%}")
X, y = own["turin"]
print(f"its rule on turin's rows: {1 - central.score(X, y, task='turin'):.1%} wrong")
