/** A style sheet: what an import of it is depends on the bundler. */
declare const styles: unknown;
export default styles;
