// What stands where a value is missing: that it is loading, that there is none, or why it failed.
import type { ComponentChildren } from "preact";
import type { Answer } from "../ask";
import type { ApiError } from "../http";

export function Failure({ error, again }: { error: ApiError; again?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{error.message}</p>
      {error.hint && <p class="dim">hint: {error.hint}</p>}
      {again && <button type="button" onClick={again}>Try again</button>}
    </div>
  );
}
export const Empty = ({ children }: { children: ComponentChildren }) => <p class="dim empty">{children}</p>;

export function Show<T>({ of, children, what }: { of: Answer<T>; children: (value: T) => ComponentChildren; what: string }) {
  return (
    <div aria-busy={of.isLoading && of.isOld}>
      {of.error && <Failure error={of.error} again={of.again} />}
      {of.value ? children(of.value) : of.isLoading && !of.error && <p class="dim" role="status">Loading {what} …</p>}
    </div>
  );
}
