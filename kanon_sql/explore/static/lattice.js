"use strict";
// The picture of the lattice: zoom and pan by buttons, keys, wheel and pointer, and what is known of a node in words.
(() => {
  const CLOSEST = 1 / 12;  // of the whole picture's width

  const set = (tools) => {
    const svg = tools.parentElement.querySelector('svg[aria-labelledby^="full-lattice"]'), said = tools.querySelector("#lattice-said");
    if (!svg) return;
    const whole = svg.getAttribute("viewBox").split(" ").map(Number), frame = svg.parentElement;
    const marks = [...svg.querySelectorAll("title")].map((title) => title.parentElement).filter((mark) => mark !== svg);
    let [x, y, width, height] = whole, looked = -1;
    tools.hidden = false;
    frame.before(tools);
    frame.tabIndex = 0;
    frame.setAttribute("role", "group");
    frame.setAttribute("aria-label", "The lattice: + and - zoom, 0 shows the whole, arrows move it, n and p go from node to node");

    const draw = () => {
      width = Math.min(whole[2], Math.max(whole[2] * CLOSEST, width));
      height = width * whole[3] / whole[2];
      x = Math.min(whole[0] + whole[2] - width, Math.max(whole[0], x));
      y = Math.min(whole[1] + whole[3] - height, Math.max(whole[1], y));
      svg.setAttribute("viewBox", [x, y, width, height].map((part) => part.toFixed(2)).join(" "));
      frame.classList.toggle("zoomed", width < whole[2]);
    };
    // Zoom by a factor; what is at a place, as shares of the picture's width and height, stays there.
    const zoom = (factor, across = 0.5, down = 0.5) => {
      const before = [x + across * width, y + down * height];
      width = Math.min(whole[2], Math.max(whole[2] * CLOSEST, width / factor));
      x = before[0] - across * width;
      y = before[1] - down * width * whole[3] / whole[2];
      draw();
    };
    const move = (across, down) => { x += across * width; y += down * height; draw(); };
    const middle = (mark) => { const box = mark.getBBox(); return [box.x + box.width / 2, box.y + box.height / 2]; };
    const look = (mark) => {
      marks[looked]?.classList.remove("looked");
      looked = marks.indexOf(mark);
      mark.classList.add("looked");
      said.textContent = mark.querySelector("title").textContent;
      const [across, down] = middle(mark);
      if (across < x || across > x + width || down < y || down > y + height) {
        [x, y] = [across - width / 2, down - height / 2];
        draw();
      }
    };
    const nearer = () => {  // towards the node that is looked at, if there is one
      zoom(1.5);
      if (looked < 0) return;
      const [across, down] = middle(marks[looked]);
      [x, y] = [across - width / 2, down - height / 2];
      draw();
    };
    const step = (by) => { if (marks.length) look(marks[(looked + by + marks.length) % marks.length]); };
    const acts = {
      in: nearer, out: () => zoom(1 / 1.5), whole: () => { [x, y, width, height] = whole; draw(); },
      before: () => step(looked < 0 ? 0 : -1), after: () => step(1),
    };
    const keys = {
      "+": acts.in, "=": acts.in, "-": acts.out, 0: acts.whole, n: acts.after, p: acts.before,
      ArrowLeft: () => move(-0.15, 0), ArrowRight: () => move(0.15, 0), ArrowUp: () => move(0, -0.15), ArrowDown: () => move(0, 0.15),
    };
    tools.addEventListener("click", (event) => acts[event.target.closest("button")?.dataset.by]?.());
    frame.addEventListener("keydown", (event) => {
      const isPan = event.key.startsWith("Arrow"), act = keys[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey || (isPan && width >= whole[2])) return;
      event.preventDefault();
      act();
    });
    frame.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== frame) return;  // the wheel scrolls the page
      event.preventDefault();
      const box = svg.getBoundingClientRect();
      zoom(1.2 ** Math.sign(-event.deltaY), (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
    }, { passive: false });

    let held = null;
    svg.addEventListener("pointerdown", (event) => {
      if (event.button || width >= whole[2]) return;
      held = [event.clientX, event.clientY, x, y];
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      if (!held) return;
      const scale = width / svg.getBoundingClientRect().width;
      x = held[2] - (event.clientX - held[0]) * scale;
      y = held[3] - (event.clientY - held[1]) * scale;
      draw();
    });
    for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => { held = null; });
    const under = (event) => { const mark = event.target.closest("svg > *"); if (marks.includes(mark)) look(mark); };
    svg.addEventListener("pointerover", (event) => { if (!held) under(event); });
    svg.addEventListener("click", under);
  };

  document.addEventListener("shown", (event) => event.target.querySelectorAll("[data-zoom]").forEach(set));
})();
