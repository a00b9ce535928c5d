import { useSearchParams } from "react-router";

/** The filter and the page of a list, in the address. A new filter begins at the first page. */
export function useListAddress(name: string) {
  const [parameters, setParameters] = useSearchParams();
  const filter = parameters.get(name) ?? "";
  const asked = Number(parameters.get("page") ?? 1);
  const page = Number.isInteger(asked) && asked > 0 && asked <= 100_000 ? asked : 1;
  return {
    filter,
    page,
    setFilter: (text: string) => setParameters(text === "" ? {} : { [name]: text }),
    setPage: (next: number) =>
      setParameters({ ...(filter !== "" && { [name]: filter }), ...(next > 1 && { page: String(next) }) }),
  };
}
