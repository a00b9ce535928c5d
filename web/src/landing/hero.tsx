import { Button } from "@mantine/core";
import { Link } from "react-router";
import { catalogue } from "../catalogue.ts";
import { lowestHourlyPrice, typeList } from "../content/environment-types.ts";
import { gpuNames } from "../content/gpu-words.ts";
import classes from "./hero.module.css";
import { HeroPicture } from "./hero-picture.tsx";

export function Hero() {
  return (
    <section className={classes.hero}>
      <h1>Your own GPU, open in your browser in about 30 seconds</h1>
      <p className={classes.lead}>
        {`Rent a dedicated ${gpuNames(catalogue.gpus)} with ${typeList} already installed. Pay once for the hours you choose, from ${lowestHourlyPrice} per hour.`}
      </p>
      <div className={classes.actions}>
        <Button component={Link} to="/login" size="md">
          Get Started
        </Button>
        <Button component="a" href="#pricing" size="md" variant="default">
          See prices
        </Button>
        <span className={classes.aside}>No credit card needed to sign up</span>
      </div>
      <HeroPicture />
    </section>
  );
}
