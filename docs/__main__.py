"""Write every generated page: `make docs`."""

from docs.pages import PAGES


def main() -> None:
    """Write the pages whose content changed."""
    for path, render in PAGES.items():
        text = render()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.name}")


main()
