import classes from "./berth-plan.module.css";

/** Slot, first hour, hours, number of slots: a berth plan of an eight-GPU machine. */
const stays = [
  { slot: 1, from: 1, hours: 7, slots: 2, name: "cs231n-hw3" },
  { slot: 1, from: 9, hours: 6, slots: 1, name: "tabular" },
  { slot: 2, from: 10, hours: 9, slots: 1, name: "whisper-eval" },
  { slot: 3, from: 3, hours: 12, slots: 4, name: "thesis-llm" },
  { slot: 7, from: 2, hours: 5, slots: 2, name: "segmentation" },
  { slot: 3, from: 16, hours: 8, slots: 2, name: "diffusion" },
];

export function BerthPlan() {
  return (
    <aside className={classes.plan} aria-hidden="true">
      <div className={classes.hours}>
        {["00:00", "06:00", "12:00", "18:00"].map((hour) => (
          <span key={hour}>{hour}</span>
        ))}
      </div>
      <div className={classes.grid}>
        {Array.from({ length: 8 }, (_, slot) => (
          <span key={slot} className={classes.slot} style={{ gridRow: slot + 1 }}>
            {slot + 1}
          </span>
        ))}
        {stays.map(({ slot, from, hours, slots, name }) => (
          <div
            key={name}
            className={classes.stay}
            style={{ gridRow: `${slot} / span ${slots}`, gridColumn: `${from + 1} / span ${hours}` }}
          >
            {name}
          </div>
        ))}
        <div className={classes.stay} data-yours style={{ gridRow: "7 / span 2", gridColumn: "14 / span 6" }}>
          yours
        </div>
        <i className={classes.now} />
      </div>
      <p>
        Eight places, one machine.
        <br />
        While one is yours, it is only yours.
      </p>
    </aside>
  );
}
