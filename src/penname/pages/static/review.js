// One key, one button: every button says its key in data-key. In a text field keys are letters, and Escape leaves it.
// Once a key has sent the page away, further keys wait for the next page: a second Enter must not answer what nobody has read.
let leaving = false;
window.addEventListener("pageshow", () => { leaving = false; });
document.addEventListener("submit", () => { leaving = true; });
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (leaving) {
    event.preventDefault();
    return;
  }
  if (event.target instanceof HTMLInputElement) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!target || event.repeat) return;
  // Enter and Space belong to what has the focus, when something has.
  if (event.key === "Enter" && document.activeElement !== document.body) return;
  event.preventDefault();
  if (target instanceof HTMLInputElement) {
    target.focus();
  } else {
    leaving = true;
    target.click();
  }
});
