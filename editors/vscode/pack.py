"""Packs the compiled extension into a .vsix: a zip with two tables of contents, and no more.

    python editors/vscode/pack.py FOLDER FILE.vsix

The folder has package.json and what the compiler made of the sources in `out/`. Packing the same
twice gives the same bytes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

PACKED = ("package.json", "README.md", "LICENSE.txt", "media/*.svg", "out/*.js")
TYPES = {"js": "application/javascript", "json": "application/json", "md": "text/markdown"}
TYPES |= {"svg": "image/svg+xml", "txt": "text/plain", "vsixmanifest": "text/xml"}
_THEN = (1980, 1, 1, 0, 0, 0)


def pack(folder: Path, vsix: Path) -> list[str]:
    """Write the package and return the names of the files in it."""
    found = sorted(path for pattern in PACKED for path in folder.glob(pattern))
    about = json.loads((folder / "package.json").read_text("utf-8"))
    if folder / about["main"] not in found:
        raise SystemExit(f"{about['main']} is not there: compile the extension first.")
    files = {
        f"extension/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in found
    }
    files["extension.vsixmanifest"] = manifest(about).encode()
    files["[Content_Types].xml"] = content_types().encode()
    vsix.parent.mkdir(parents=True, exist_ok=True)
    with ZipFile(vsix, "w", ZIP_DEFLATED) as packed:
        for name, content in sorted(files.items()):
            packed.writestr(ZipInfo(name, _THEN), content, ZIP_DEFLATED)
    return sorted(files)


def manifest(about: dict[str, Any]) -> str:
    """Return what an editor reads first: whose it is, and what it needs."""
    identity = " ".join(
        f"{name}={quoteattr(value)}"
        for name, value in {
            "Language": "en-US",
            "Id": about["name"],
            "Version": about["version"],
            "Publisher": about["publisher"],
        }.items()
    )
    properties = {
        "Engine": about["engines"]["vscode"],
        "ExtensionKind": ",".join(about["extensionKind"]),
        "ExtensionDependencies": "",
        "ExtensionPack": "",
    }
    told = "".join(
        f'<Property Id="Microsoft.VisualStudio.Code.{name}" Value={quoteattr(value)} />'
        for name, value in properties.items()
    )
    asset = "Microsoft.VisualStudio"
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<PackageManifest Version="2.0.0" '
        'xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">\n'
        f"<Metadata><Identity {identity} />"
        f"<DisplayName>{escape(about['displayName'])}</DisplayName>"
        f'<Description xml:space="preserve">{escape(about["description"])}</Description>'
        f"<Tags>{escape(','.join(about['keywords']))}</Tags>"
        f"<Categories>{escape(','.join(about['categories']))}</Categories>"
        f"<License>extension/LICENSE.txt</License><Properties>{told}</Properties></Metadata>\n"
        '<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code" /></Installation>\n'
        "<Dependencies />\n"
        f'<Assets><Asset Type="{asset}.Code.Manifest" Path="extension/package.json" '
        'Addressable="true" />'
        f'<Asset Type="{asset}.Services.Content.Details" Path="extension/README.md" '
        'Addressable="true" /></Assets>\n'
        "</PackageManifest>\n"
    )


def content_types() -> str:
    """Return the types of the files by their endings, as the format wants it."""
    told = "".join(
        f'<Default Extension=".{ending}" ContentType="{type_}" />'
        for ending, type_ in sorted(TYPES.items())
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{told}</Types>\n'
    )


if __name__ == "__main__":
    names = pack(Path(sys.argv[1]), Path(sys.argv[2]))
    print(f"{sys.argv[2]} ({len(names)} files)")
