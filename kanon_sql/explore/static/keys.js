"use strict";
// Keys, and the search of columns: nothing here asks the server.
(() => {
  const find = (selector) => document.querySelector(selector), store = sessionStorage;
  const isText = (item) => item.matches("input:not([type=checkbox]), textarea");

  // --- The search of columns ---

  const filter = (input) => {
    const list = find(input.dataset.filter), words = input.value.trim().toLowerCase();
    if (!list) return;
    const items = [...list.children];
    let seen = 0;
    for (const item of items) {
      const role = item.querySelector("[data-role], [name^='role.']")?.selectedOptions[0]?.text ?? "";
      item.hidden = !`${item.dataset.words} ${role}`.toLowerCase().includes(words);
      if (!item.hidden) seen += 1;
    }
    input.closest("fieldset, form").querySelector("[data-filtered]").textContent = words ? `${seen} of ${items.length} columns` : "";
  };
  document.addEventListener("input", (event) => { if (event.target.dataset?.filter) filter(event.target); });

  // --- The list of keys ---

  const singles = () => store.getItem("single-keys") !== "off";
  const open = () => {
    const list = find("#keys");
    if (!list || list.open) return;
    find("#single-keys").checked = singles();
    list.showModal();
  };
  document.addEventListener("change", (event) => {
    if (event.target.id === "single-keys") store.setItem("single-keys", event.target.checked ? "on" : "off");
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button && "keys" in button.dataset) open();
    else if (button && "keysClose" in button.dataset) find("#keys").close();
  });

  const focus = (item) => {
    if (!item) return;
    item.scrollIntoView({ block: "nearest" });
    item.focus();
  };
  const ofKey = {
    "?": open,
    "/": () => focus(find("#column-filter") ?? find("#role-filter") ?? find("#columns summary")),
    c: () => focus(find("#controls input:not([type=hidden])")),
    a: () => focus(find("#answer")),
    k: () => focus(find("#candidate-name")),
  };
  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.key === "Enter" && target.dataset?.filter) event.preventDefault();  // it sends no form
    if (event.key === "Escape" && target.dataset?.filter && target.value) {
      target.value = "";
      target.dispatchEvent(new Event("input", { bubbles: true }));
    } else if (event.key === "Escape" && !find("#keys")?.open) find("#effects [data-close]")?.click();
    if (isText(target) || find("#keys")?.open) return;
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "z") {
      const ofTree = target.closest(".tree-editor")?.querySelector("[data-tree=undo]");
      const button = ofTree ?? find(event.shiftKey ? "#step-redo" : "#step-undo");
      if (button && !(ofTree && event.shiftKey)) { event.preventDefault(); button.click(); }
      return;
    }
    if (target.closest("[role=tree], .drawing")) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !singles() || target.matches("select") || !Object.hasOwn(ofKey, event.key)) return;
    event.preventDefault();
    ofKey[event.key]();
  });
})();
