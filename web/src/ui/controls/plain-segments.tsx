import classes from "./plain-segments.module.css";

type Props = {
  label: string;
  name: string;
  value: string;
  options: string[];
  onChange: (value: string) => void;
};

/** Native radios, because public pages have no script library. */
export function PlainSegments({ label, name, value, options, onChange }: Props) {
  return (
    <fieldset className={classes.segments}>
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option}>
          <input type="radio" name={name} value={option} checked={option === value} onChange={() => onChange(option)} />
          <span>{option}</span>
        </label>
      ))}
    </fieldset>
  );
}
