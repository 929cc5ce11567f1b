
"use strict";
// Tables that can be sorted and filtered; without this script they are tables all the same.
for (const part of document.querySelectorAll(".sortable")) {
  const table = part.querySelector("table"), body = table.tBodies[0], rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const number = text => { const found = text.replace(/[<\s]/g, ""); return found === "" ? NaN : parseFloat(found); };
  const order = (head, place) => {
    const falling = head.getAttribute("aria-sort") === "ascending";
    const words = head.classList.contains("text");
    const keys = new Map(rows.map(row => [row, row.cells[place].textContent]));
    const compare = (a, b) => {
      const x = keys.get(a), y = keys.get(b);
      if (words) return x.localeCompare(y, "en", { numeric: true });
      const p = number(x), q = number(y);
      if (isNaN(p) || isNaN(q)) return (isNaN(p) - isNaN(q)) * (falling ? -1 : 1);  // what is no number stays last
      return p - q;
    };
    const sorted = [...rows].sort((a, b) => falling ? compare(b, a) : compare(a, b));
    for (const other of heads) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    body.append(...sorted);
  };
  heads.forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => order(head, place));
    head.append(button);
    head.setAttribute("aria-sort", "none");
  });
  if (rows.length < 6) continue;
  const tools = document.createElement("div"), label = document.createElement("label");
  const input = document.createElement("input"), shown = document.createElement("span");
  tools.className = "tools";
  input.type = "search";
  input.placeholder = "words in a row";
  label.append("Filter: ", input);
  shown.setAttribute("role", "status");
  shown.className = "quiet";
  const filter = () => {
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const text = [...row.cells].map(cell => cell.textContent).join(" ").toLowerCase();
      row.hidden = !wanted.every(word => text.includes(word));
      count += !row.hidden;
    }
    shown.textContent = wanted.length ? `${count} of ${rows.length} rows` : `${rows.length} rows`;
  };
  input.addEventListener("input", filter);
  tools.append(label, shown);
  part.querySelector(".box").before(tools);
  filter();
}
