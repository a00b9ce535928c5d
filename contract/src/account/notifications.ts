import { array, boolean, type infer as Infer, literal, maxLength, nullable, number, object, string } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { instant, success } from "../wire.ts";

export const notification = object({
  id: string(),
  title: string(),
  body: string(),
  /** A path of the app, or null. */
  link: nullable(string()),
  created_at: instant,
  read: boolean(),
});
export type Notification = Infer<typeof notification>;

export const listNotifications = endpoint({
  method: "GET",
  path: "/notifications",
  auth: "bearer",
  summary: "The newest 50, and how many are unread (G53)",
  body: object({}),
  reply: object({ status: literal("success"), unread: number(), notifications: array(notification) }),
  errors: [],
});

export const readNotifications = endpoint({
  method: "POST",
  path: "/notifications/read",
  auth: "bearer",
  summary: "Marks the given ones read; an empty list marks all",
  body: object({ ids: array(string().check(maxLength(64))) }),
  reply: success,
  errors: [],
});
