"use strict";
// A tree of labels that one rebuilds by dragging them, or by keys and buttons; what comes out is a hierarchy of a spec.
(() => {
  const set = (editor) => {
    const list = editor.querySelector("[role=tree]");
    if (!list) return;
    const find = (name) => editor.querySelector(`#tree-${name}`), name = find("label"), target = find("target");
    const read = (nodes) => nodes.map(([label, below]) => ({ label, below: below && read(below) }));
    let tree = read(JSON.parse(editor.dataset.nodes)), chosen = new Set(), closed = new Set(), focused = null;
    const earlier = [];

    const say = (words) => { find("said").textContent = words; };
    const each = function* (nodes = tree, above = []) {
      for (const node of nodes) {
        yield [node, nodes, above];
        if (node.below) yield* each(node.below, [...above, node]);
      }
    };
    const placeOf = (node) => [...each()].find(([own]) => own === node);
    const counted = (count) => `${count} ${count === 1 ? "label" : "labels"}`;
    const copy = (nodes) => nodes.map((node) => ({ label: node.label, below: node.below && copy(node.below) }));
    const keep = () => { earlier.push(copy(tree)); if (earlier.length > 50) earlier.shift(); };
    // What is selected, without what is inside of something selected, as it is from top to bottom.
    const taken = () => [...each()].filter(([node, , above]) => chosen.has(node) && !above.some((own) => chosen.has(own))).map(([node]) => node);
    const named = (nodes) => nodes.length === 1 ? nodes[0].label : counted(nodes.length);

    // --- What is seen ---

    const draw = () => {
      const held = list.contains(document.activeElement), all = [...each()].map(([node]) => node);
      chosen = new Set(all.filter((node) => chosen.has(node)));
      if (!all.includes(focused)) focused = all[0] ?? null;
      const drawn = (nodes, level) => nodes.map((node, index) => {
        const item = document.createElement("li"), row = document.createElement("div");
        item.node = node;
        item.setAttribute("role", "treeitem");
        item.setAttribute("aria-level", level);
        item.setAttribute("aria-posinset", index + 1);
        item.setAttribute("aria-setsize", nodes.length);
        item.setAttribute("aria-selected", chosen.has(node));
        item.setAttribute("aria-label", node.below ? `${node.label}, group of ${node.below.length}` : node.label);
        item.tabIndex = node === focused ? 0 : -1;
        row.className = "row";
        const part = (kind, text) => {
          const made = row.appendChild(document.createElement("span"));
          made.className = kind;
          made.textContent = text;
        };
        part("grip", "⠿");
        if (node.below) part("fold", closed.has(node) ? "▸" : "▾");
        part("label", node.label);
        if (node.below) part("count", node.below.length ? `${node.below.length}` : "empty");
        item.append(row);
        if (node.below) {
          item.classList.add("group");
          item.setAttribute("aria-expanded", !closed.has(node));
          if (!closed.has(node) && node.below.length) {
            const inside = item.appendChild(document.createElement("ul"));
            inside.setAttribute("role", "group");
            inside.append(...drawn(node.below, level + 1));
          }
        }
        return item;
      });
      list.replaceChildren(...drawn(tree, 1));
      list.hidden = tree.length === 0;
      find("empty").hidden = tree.length !== 0;
      const was = target.value, groups = [...each()].filter(([node]) => node.below);
      target.replaceChildren(...[["the outermost labels", "top"], ...groups.map(([node, , above], place) => [[...above, node].map((own) => own.label).join(" / "), `${place}`])].map(([words, value]) => new Option(words, value)));
      if ([...target.options].some((option) => option.value === was)) target.value = was;
      find("chosen").textContent = chosen.size ? `${chosen.size === 1 ? `Selected: ${taken()[0].label}` : `${counted(chosen.size)} selected`}` : "Nothing is selected";
      editor.querySelector("[data-tree=undo]").disabled = earlier.length === 0;
      if (held) focus(focused);
    };
    const rows = () => [...list.querySelectorAll("li")];
    const focus = (node) => {
      if (!node) return;
      focused = node;
      for (const row of rows()) row.tabIndex = row.node === node ? 0 : -1;
      rows().find((row) => row.node === node)?.focus();
    };
    const select = (node) => { if (!chosen.delete(node)) chosen.add(node); focused = node; draw(); };

    // --- What is done ---

    const move = (nodes, into) => {  // into: a group, or null for the outermost labels
      if (!nodes.length) return say("Select labels first.");
      const above = into ? [...placeOf(into)[2], into] : [];
      if (nodes.some((node) => above.includes(node))) return say("A group cannot be moved into itself.");
      keep();
      for (const node of nodes) {
        const own = placeOf(node)[1];
        own.splice(own.indexOf(node), 1);
      }
      (into ? into.below : tree).push(...nodes);
      if (into) closed.delete(into);
      chosen.clear();
      focused = nodes[0];
      draw();
      say(`Moved ${named(nodes)} to ${into ? into.label : "the outermost labels"}.`);
    };
    const free = (label, but = null) => {  // whether a group may be called so
      if (!label) return say("Type a name first."), false;
      if ([...each()].some(([node]) => node !== but && node.label === label && (node.below || tree.includes(node)))) return say(`There is ${label} already; groups have different names.`), false;
      return true;
    };
    const acts = {
      move: () => {
        const groups = [...each()].map(([node]) => node).filter((node) => node.below);
        move(taken(), target.value === "top" ? null : groups[Number(target.value)]);
      },
      group: () => {
        const label = name.value.trim(), nodes = taken();
        if (!free(label)) return;
        keep();
        const place = nodes.length ? placeOf(nodes[0])[1] : tree, made = { label, below: nodes };
        place.splice(nodes.length ? place.indexOf(nodes[0]) : place.length, 0, made);
        for (const node of nodes) {
          const own = [...each()].find(([found, within]) => found === node && within !== made.below)[1];
          own.splice(own.indexOf(node), 1);
        }
        chosen.clear();
        focused = made;
        name.value = "";
        draw();
        say(nodes.length ? `Made ${label} of ${named(nodes)}.` : `Made ${label}, which is empty yet.`);
      },
      rename: () => {
        const nodes = taken(), label = name.value.trim();
        if (nodes.length !== 1 || !nodes[0].below) return say("Select one group to rename; values are called what they are in the table.");
        if (!free(label, nodes[0])) return;
        keep();
        say(`${nodes[0].label} is ${label} now.`);
        nodes[0].label = label;
        name.value = "";
        draw();
      },
      remove: () => {
        const nodes = taken();
        if (!nodes.length) return say("Select labels first.");
        keep();
        for (const node of nodes) {
          const own = placeOf(node)[1];
          own.splice(own.indexOf(node), 1, ...(node.below ?? []));
        }
        draw();
        say(`Removed ${named(nodes)}${nodes.some((node) => node.below?.length) ? "; what was inside moved up" : ""}.`);
      },
      undo: () => {
        if (!earlier.length) return;
        tree = earlier.pop();
        chosen.clear();
        draw();
        say("Undone.");
      },
      add: () => {
        const values = [...new Set(find("values").value.split("\n").map((line) => line.trim()).filter(Boolean))];
        const known = new Set([...each()].filter(([node]) => !node.below).map(([node]) => node.label)), added = values.filter((value) => !known.has(value));
        if (!added.length) return say("There is no new value to add.");
        keep();
        tree.push(...added.map((label) => ({ label, below: null })));
        find("values").value = "";
        draw();
        say(`Added ${counted(added.length)} to the outermost ones.`);
      },
      use: () => {
        const empty = [...each()].find(([node]) => node.below?.length === 0)?.[0];
        if (!tree.length) return say("There is no label yet.");
        if (empty) return say(`${empty.label} is empty: move a label into it, or remove it.`);
        const twice = tree.find((node, index) => tree.findIndex((own) => own.label === node.label) !== index);
        if (twice) return say(`${twice.label} is there twice among the outermost labels.`);
        // Written by hand: an object would sort labels that are numbers. The spec's checks judge it.
        const text = JSON.stringify, within = (nodes) => `[${nodes.map((node) => node.below ? `{${text(node.label)}: ${within(node.below)}}` : text(node.label)).join(", ")}]`;
        const outermost = `{${tree.map((node) => `${text(node.label)}: ${node.below ? within(node.below) : "null"}`).join(", ")}}`;
        say("");
        const rule = `{"tree": ${editor.dataset.top ? `{"*": ${outermost}}` : outermost}}`;
        editor.dispatchEvent(new CustomEvent("used", { bubbles: true, detail: { column: editor.dataset.column, rule, wrong: find("problems"), done: () => say("This tree is in use: the answer above is by it.") } }));
      },
    };
    editor.addEventListener("click", (event) => {
      const act = event.target.closest("[data-tree]")?.dataset.tree;
      if (act) acts[act]();
    });
    name.addEventListener("keydown", (event) => { if (event.key === "Enter") acts[chosen.size === 1 && taken()[0].below ? "rename" : "group"](); });

    // --- Keys ---

    list.addEventListener("keydown", (event) => {
      const item = event.target.closest("li"), seen = rows(), at = seen.indexOf(item), node = item?.node;
      if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
      const above = placeOf(node)[2], fold = (shut) => { closed[shut ? "add" : "delete"](node); draw(); };
      const ofKey = {
        ArrowDown: () => focus(seen[at + 1]?.node), ArrowUp: () => focus(seen[at - 1]?.node),
        Home: () => focus(seen[0].node), End: () => focus(seen[seen.length - 1].node),
        ArrowRight: () => { if (node.below && closed.has(node)) fold(false); else if (node.below?.length) focus(node.below[0]); },
        ArrowLeft: () => { if (node.below && !closed.has(node)) fold(true); else focus(above[above.length - 1]); },
        " ": () => select(node),
        Enter: () => { if (!chosen.size) select(node); target.focus(); },
        F2: () => { if (!chosen.size) select(node); name.value = taken().length === 1 && taken()[0].below ? taken()[0].label : ""; name.focus(); },
        Delete: () => { if (!chosen.size) chosen.add(node); acts.remove(); },
      }[event.key];
      if (!ofKey) return;
      event.preventDefault();
      ofKey();
    });

    // --- The pointer ---

    let drag = null;
    const under = (event) => {  // the group that a label would go to, or the list for the outermost ones
      const item = document.elementFromPoint(event.clientX, event.clientY)?.closest("[role=treeitem], [role=tree]");
      if (!item || !editor.contains(item)) return null;
      if (!item.node) return { mark: list, into: null };
      const above = placeOf(item.node)[2], into = item.node.below ? item.node : above[above.length - 1] ?? null;
      return { mark: into ? rows().find((row) => row.node === into) : list, into };
    };
    const end = () => {
      drag?.ghost?.remove();
      editor.querySelectorAll(".over").forEach((item) => item.classList.remove("over"));
      list.classList.remove("dragging");
      drag = null;
    };
    list.addEventListener("pointerdown", (event) => {
      const row = event.target.closest(".row"), onGrip = event.target.closest(".grip");
      if (!row || event.button || (event.pointerType !== "mouse" && !onGrip)) return;
      drag = { node: row.parentElement.node, x: event.clientX, y: event.clientY, ghost: null, to: null };
    });
    window.addEventListener("pointermove", (event) => {
      if (!drag || !editor.isConnected) return;
      if (!drag.ghost) {
        if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 5) return;
        if (!chosen.has(drag.node)) { chosen = new Set([drag.node]); draw(); }
        drag.ghost = editor.appendChild(document.createElement("div"));
        drag.ghost.className = "ghost";
        drag.ghost.textContent = named(taken());
        list.classList.add("dragging");
      }
      event.preventDefault();
      drag.ghost.style.left = `${Math.min(event.clientX + 12, innerWidth - drag.ghost.offsetWidth - 4)}px`;
      drag.ghost.style.top = `${event.clientY + 12}px`;
      editor.querySelectorAll(".over").forEach((item) => item.classList.remove("over"));
      drag.to = under(event);
      drag.to?.mark.classList.add("over");
      if (event.clientY < 60) scrollBy(0, -12);
      else if (event.clientY > innerHeight - 60) scrollBy(0, 12);
    });
    window.addEventListener("pointerup", () => {
      const { ghost, to } = drag ?? {};
      end();
      if (!ghost) return;
      dragged = true;
      setTimeout(() => { dragged = false; });
      if (to) move(taken(), to.into);
    });
    let dragged = false;  // the click that ends it selects nothing
    window.addEventListener("pointercancel", end);
    window.addEventListener("keydown", (event) => { if (event.key === "Escape") end(); });
    list.addEventListener("click", (event) => {
      const item = event.target.closest("li");
      if (dragged || !item) return;
      focused = item.node;
      if (event.target.closest(".fold")) { closed[closed.has(item.node) ? "delete" : "add"](item.node); draw(); }
      else select(item.node);
      focus(item.node);
    });
    draw();
  };

  document.addEventListener("shown", (event) => event.target.querySelectorAll(".tree-editor").forEach(set));
})();
