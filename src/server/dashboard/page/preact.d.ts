/** What the views use of Preact and htm, which are served as one file. */
export { html, render, useEffect, useMemo, useRef, useState } from 'htm/preact/standalone';
