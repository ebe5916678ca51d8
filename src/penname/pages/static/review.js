// One key, one button: every button says its key in data-key. In a text field keys are letters, and Escape leaves it.
document.addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLInputElement;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (typing) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const field = document.querySelector(`input[data-key="${CSS.escape(event.key)}"]`);
  if (field) {
    event.preventDefault();
    field.focus();
    return;
  }
  const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (target && !(event.key === "Enter" && document.activeElement !== document.body)) {
    event.preventDefault();
    target.click();
  }
});
