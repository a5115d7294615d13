// The page as a part of another page of the same server (the console of `acu serve`): that page keeps the address and the theme.
// It is sent {address, isStep} when the reader chose something, and sends {address} or {theme}.
const isEmbedded = (() => {
  try {
    return parent !== window && !!parent.document;
  } catch { // a page of another server, or a file: this page is on its own there
    return false;
  }
})();
// An empty fragment would make the browser scroll the other page to this one.
const fragmentUrl = (address) => (address || !isEmbedded ? "#" + address : location.pathname + location.search);
function sendAddress(address, isStep) { parent.postMessage({ acu: "address", address, isStep }, location.origin); }
if (isEmbedded) {
  document.body.dataset.embedded = "";
  addEventListener("message", (event) => {
    if (event.source !== parent || !event.data) return;
    if (event.data.theme === "dark" || event.data.theme === "light") act.theme(event.data.theme);
    if (typeof event.data.address === "string") history.replaceState(null, "", fragmentUrl(event.data.address)), follow();
  });
}
