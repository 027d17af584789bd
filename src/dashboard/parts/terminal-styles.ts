/**
 * Lets xterm live with a policy that allows no inline style. It writes style sheets as the text of `style` elements, and colours as `style`
 * attributes; both reach the page by the object model instead, which the policy leaves alone. xterm takes the elements from the document
 * of the window, so that is where it is done, with the first terminal of a page.
 */
const create = document.createElement.bind(document);
let isDone = false;

export function allowTerminalStyles(): void {
  if (isDone) return;
  isDone = true;
  Object.defineProperty(document, 'createElement', {
    configurable: true,
    value(name: string, options?: ElementCreationOptions) {
      if (name === 'style') return styleElement();
      const element = create(name, options);
      if (name === 'span') Object.defineProperty(element, 'setAttribute', { value: setAttribute });
      return element;
    },
  });
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === 'style') this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}

/** What is written into it counts for the page until it is removed; itself is shown nowhere. */
function styleElement(): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const element = create('template');
  Object.defineProperty(element, 'textContent', { set: (text: string) => sheet.replaceSync(text) });
  Object.defineProperty(element, 'remove', {
    value() {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
      Element.prototype.remove.call(element);
    },
  });
  return element;
}
