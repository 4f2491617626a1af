for (const table of document.querySelectorAll("table")) {
    const body = table.tBodies[0];
    if (!body || body.rows.length < 2) continue;
    const key = (row, i) => row.cells[i] ? row.cells[i].dataset.v ?? row.cells[i].textContent : "";
    [...table.tHead.rows[0].cells].forEach((head, i) => {
        if (!head.textContent) return;
        const button = document.createElement("button");
        button.append(...head.childNodes);
        head.append(button);
        button.onclick = () => {
            const down = head.getAttribute("aria-sort") === "ascending";
            for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
            head.setAttribute("aria-sort", down ? "descending" : "ascending");
            const rows = [...body.rows].sort((a, b) => {
                const x = key(a, i), y = key(b, i), order = x - y;
                return (down ? -1 : 1) * (Number.isNaN(order) ? x.localeCompare(y) : order);
            });
            body.append(...rows);
        };
    });
}
