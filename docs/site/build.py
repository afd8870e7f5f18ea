"""Build the site: documents, docstrings, and a gallery of the examples, each of which is run.

usage: python docs/site/build.py FOLDER

The pages are in FOLDER/html. It needs foretask, its extra `docs`, and what the examples import. Any
warning, any example that fails and any link that leads nowhere is an error.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]

# Pages by their place in the repository, so that links between them lead where they lead there.
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "CITATION.cff",
    "crates/foretask-cli/data/README.md",
]
# Folders have a page here.
FOLDERS = {"python/examples": "gallery/index.md", "crates/foretask/examples": "rust/index.md"}

INDEX = """# foretask

```{{toctree}}
:maxdepth: 1

Start <README>
Examples <gallery/index>
```

```{{toctree}}
:caption: Guides
:maxdepth: 1

docs/report
docs/python
docs/tables
docs/json
docs/federated
Python reference <api>
Rust examples <rust/index>
```

```{{toctree}}
:caption: Documents
:maxdepth: 1

{documents}
```

```{{toctree}}
:caption: The project
:maxdepth: 1

docs/architecture
docs/dependencies
SECURITY
CONTRIBUTING
CHANGELOG
The demo's data <crates/foretask-cli/data/README>
```
"""


def gather(source):
    """Copy the documents, with links to folders led to the pages of these."""
    for page in PAGES:
        (source / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / page, source / page)
    shutil.copytree(ROOT / "docs", source / "docs", ignore=shutil.ignore_patterns("site", "__pycache__"))
    for page in list(source.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        # Files that a page leads to, such as sources, come along.
        for link in re.findall(r"\]\(([^)#:\s]+)", text):
            there = ((source / page).parent / link).resolve()
            if there.is_relative_to(source) and not there.exists():
                origin = ROOT / there.relative_to(source)
                if origin.is_file():
                    there.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(origin, there)
        up = "../" * (len(page.relative_to(source).parts) - 1)
        for folder, instead in FOLDERS.items():
            text = text.replace(f"]({up}{folder})", f"]({up}{instead})")
        page.write_text(text, encoding="utf-8")
    documents = sorted(path.stem for path in (ROOT / "docs").glob("[0-9]*.md"))
    listed = [f"docs/{name}" for name in documents] + ["docs/reproduction/*"]
    index = INDEX.format(documents="\n".join(listed)).replace("```{toctree}\n:caption: Doc", GLOB)
    (source / "index.md").write_text(index, encoding="utf-8")


# The pages of the reproduction are found by their names.
GLOB = "```{toctree}\n:glob:\n:caption: Doc"


def title_of(script):
    """Return the name of an example."""
    return re.sub(r"^\d+ ", "", script.stem.replace("_", " ").removesuffix(" example")).capitalize()


def gallery(source, folder):
    """Run every example of Python, and write a page of its code, its output and its pictures."""
    pages = source / "gallery"
    pages.mkdir()
    cards = []
    for script in sorted((ROOT / "python/examples").glob("*.py")):
        work = folder / "examples" / script.stem
        work.mkdir(parents=True)
        began = time.monotonic()
        environment = {**os.environ, "MPLBACKEND": "Agg"}
        ran = subprocess.run(
            [sys.executable, script], cwd=work, env=environment, capture_output=True, text=True
        )
        print(f"{script.name}: {time.monotonic() - began:.1f} s", flush=True)
        if ran.returncode:
            sys.exit(f"{script} failed:\n{ran.stdout}{ran.stderr}")
        pictures = sorted(work.glob("*.png"))
        for picture in pictures:
            shutil.copy(picture, pages / f"{script.stem}-{picture.name}")
        code = script.read_text(encoding="utf-8")
        said = (ast.get_docstring(ast.parse(code)) or "").strip()
        name, about = title_of(script), said.split("\n\n")[0].replace("\n", " ")
        drawn = "\n".join(f"![{about}]({script.stem}-{picture.name})\n" for picture in pictures)
        page = f"# {name}\n\n{said}\n\n{drawn}\n"
        page += f"```text\n{ran.stdout.rstrip()}\n```\n\n```python\n{code.rstrip()}\n```\n"
        (pages / f"{script.stem}.md").write_text(page, encoding="utf-8")
        cards.append(f"## [{name}]({script.stem}.md)\n\n{about}\n\n{drawn}")
    hidden = "```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"
    text = f"# Examples\n\nEach was run when this page was built.\n\n{hidden}\n" + "\n".join(cards)
    (pages / "index.md").write_text(text, encoding="utf-8")


def rust(source):
    """Write a page of the examples of Rust, which the tests of the workspace run."""
    parts = []
    for script in sorted((ROOT / "crates/foretask/examples").glob("*.rs")):
        code = script.read_text(encoding="utf-8").rstrip()
        parts.append(f"## {script.stem.replace('_', ' ').capitalize()}\n\n```rust\n{code}\n```\n")
    (source / "rust").mkdir()
    (source / "rust/index.md").write_text("# Rust examples\n\n" + "\n".join(parts), encoding="utf-8")


def members_of(cls):
    """Return which members of a class are shown: its own and those of our classes, none of scikit-learn's."""
    options = ":members:\n"
    # Methods that scikit-learn adds have docstrings with links into its own site.
    routed = [name for name in dir(cls) if name.endswith("_request") or name == "get_metadata_routing"]
    if routed:
        return options + f":exclude-members: {', '.join(routed)}\n"
    return options + ":inherited-members:\n"


def reference(source):
    """Write the page of the docstrings of all public names."""
    import foretask

    names = [name for name in foretask.__all__ if not name.startswith("__")]
    text = "# Python reference\n"
    for name in names:
        kind = "autoclass" if isinstance(getattr(foretask, name), type) else "autofunction"
        members = members_of(getattr(foretask, name)) if kind == "autoclass" else ""
        text += f"\n## {name}\n\n```{{eval-rst}}\n.. {kind}:: foretask.{name}\n"
        text += "".join(f"   {line}\n" for line in members.splitlines()) + "```\n"
    (source / "api.md").write_text(text, encoding="utf-8")


class Links(HTMLParser):
    """What a page leads to, and what may be led to in it."""

    def __init__(self):
        super().__init__()
        self.links, self.anchors = set(), set()

    def handle_starttag(self, tag, attributes):
        """Note links and names."""
        for key, value in attributes:
            if key in ("href", "src") and value:
                self.links.add(value)
            elif key in ("id", "name") and value:
                self.anchors.add(value)


def check_links(html):
    """Return the links within the site that lead nowhere."""
    pages = {}
    for path in html.rglob("*.html"):
        pages[path.resolve()] = page = Links()
        page.feed(path.read_text(encoding="utf-8"))
    wrong = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            lost = parts.fragment and there in pages and unquote(parts.fragment) not in pages[there].anchors
            if not there.exists() or lost:
                wrong.append(f"{path.relative_to(html.resolve())}: {link}")
    return sorted(wrong)


def main():
    """Build it."""
    folder = Path(sys.argv[1]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    source, html = folder / "source", folder / "html"
    source.mkdir(parents=True)
    gather(source)
    gallery(source, folder)
    rust(source)
    reference(source)
    command = ["-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    subprocess.run(
        [sys.executable, *command, "-c", str(ROOT / "docs/site"), str(source), str(html)], check=True
    )
    wrong = check_links(html)
    if wrong:
        sys.exit("links that lead nowhere:\n" + "\n".join(wrong))
    print(f"{html / 'index.html'}: {len(list(html.rglob('*.html')))} pages, every link within them resolves")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
