"""Runs the code of a notebook, cell after cell, as a kernel would: no Jupyter is needed.

    python python/tests/run_notebook.py NOTEBOOK [FOLDER]

What the last line of a cell is worth is printed; pictures go to the folder, if there is one.
"""

import ast
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def run(path, folder=None):
    """Runs it; the number of pictures."""
    path = pathlib.Path(path)
    known = {"__name__": "__main__"}
    pictures = 0
    # A cell shows what it has drawn.
    plt.show = lambda *_, **__: None
    for number, cell in enumerate(json.loads(path.read_text())["cells"]):
        if cell["cell_type"] != "code":
            continue
        where = f"{path.name}, cell {number}"
        tree = ast.parse("".join(cell["source"]), where)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, where, "exec"), known)
        if last is not None:
            shown = eval(compile(ast.Expression(last.value), where, "eval"), known)
            if shown is not None and not isinstance(shown, list | tuple) or shown:
                print(shown)
                getattr(shown, "_repr_html_", str)()
        for figure in map(plt.figure, plt.get_fignums()):
            pictures += 1
            if folder is not None:
                name = f"{path.stem}-{pictures}.png"
                figure.savefig(pathlib.Path(folder) / name, dpi=80, bbox_inches="tight")
        plt.close("all")
    return pictures


if __name__ == "__main__":
    print(run(*sys.argv[1:3]), "pictures")
