"""What MkDocs does not know of this project; see mkdocs.yml.

The pages are written for GitHub, so that they link to files beside docs. Those of them that are
pages themselves (ROOT_PAGES) become pages of the site, links to others lead to the source. All links
are relative to the file in which they stand, and one that leads nowhere fails the build.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
ROOT_PAGES = {"ARCHITECTURE.md": "architecture.md", "CHANGELOG.md": "changelog.md", "SECURITY.md": "security.md"}
INDEX = "README.md"

SECTION = re.compile(r"^## (.+)$")
ENTRY = re.compile(r"^- \[([^\]]+)\]\(([^)]+)\)")
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")


def on_config(config):
    """Makes the sections of docs/README.md those of the site."""
    nav = [{"Overview": INDEX}]
    for line in (ROOT / "docs" / INDEX).read_text(encoding="utf-8").splitlines():
        if section := SECTION.match(line):
            nav.append({section[1]: []})
        elif entry := ENTRY.match(line):
            target = posixpath.normpath(posixpath.join("docs", entry[2]))
            list(nav[-1].values())[0].append({entry[1]: site_name(target) or entry[2]})
    config.nav = nav
    return config


def on_files(files, config):
    """Adds the pages that are not in docs."""
    for name, src_uri in ROOT_PAGES.items():
        files.append(File.generated(config, src_uri, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Leads links to where the site has what they mean, or to the source."""
    names = {src_uri: name for name, src_uri in ROOT_PAGES.items()}
    source = names.get(page.file.src_uri, "docs/" + page.file.src_uri)
    return outside_of_code(markdown, lambda text: LINK.sub(lambda m: m[1] + lead(source, m[2], config) + (m[3] or "") + m[4], text))


def lead(source, link, config):
    if re.match(r"[a-z]+:", link):
        return link
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    if found := site_name(target):
        return found
    if not (ROOT / target).exists():
        raise PluginError(f"{source}: there is no {link}")
    kind = "tree" if (ROOT / target).is_dir() else "blob"
    return f"{config.extra['source']}/{kind}/main/{target}"


def site_name(target):
    """The name that the site has for a file of the project, if it has it."""
    if target in ROOT_PAGES:
        return ROOT_PAGES[target]
    directory, _, name = target.partition("/")
    return name if directory == "docs" and name else None


def outside_of_code(markdown, change):
    parts = re.split(r"(^```.*?^```$|`[^`\n]+`)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if i % 2 else change(part) for i, part in enumerate(parts))
