/** All validation messages of forms, verbatim (spec 5). */
export const texts = {
  requiredFields: "Please fill in all required fields",
  passwordsDiffer: "Passwords do not match",
  passwordTooShort: "Password must be at least 6 characters",
  emailEmpty: "Email address cannot be empty",
  resetFields: "Please fill in all fields",
  passwordWeak: "Password does not meet security requirements",
  subdomainEmpty: "Please enter a subdomain name to continue",
  subdomainForm: "Use 3 to 40 lower-case letters, digits and hyphens, starting and ending with a letter or digit",
  subdomainReserved: "This name is reserved",
  subdomainTaken: "This name is in use",
  subdomainPort: "A name that begins with a number and two hyphens is the address of a port",
  newPasswordsDiffer: "New passwords do not match",
} as const;

export const signupPasswordLength = 6;
export const maxPasswordLength = 256;
export const maxNameLength = 120;
export const maxPhoneLength = 40;

const email = /^[^\s@\p{Cc}]+@[^\s@.\p{Cc}]+(?:\.[^\s@.\p{Cc}]+)+$/u;

export function isEmail(value: string): boolean {
  return value.length <= 254 && email.test(value);
}

/** Names that could be mistaken for the operator's own (G36). */
export const reservedSubdomains: readonly string[] = [
  "www",
  "api",
  "app",
  "admin",
  "mail",
  "smtp",
  "imap",
  "pop",
  "ftp",
  "ssh",
  "ns1",
  "ns2",
  "dns",
  "cdn",
  "static",
  "assets",
  "auth",
  "login",
  "signup",
  "account",
  "accounts",
  "identity",
  "sso",
  "dashboard",
  "billing",
  "payments",
  "pay",
  "checkout",
  "support",
  "help",
  "status",
  "docs",
  "blog",
  "legal",
  "security",
  "abuse",
  "postmaster",
  "hostmaster",
  "webmaster",
  "root",
  "localhost",
  "gateway",
  "internal",
  "metrics",
  "test",
  "staging",
  "dev",
  "berth",
];

const label = /^[a-z0-9](?:[a-z0-9-]{1,38}[a-z0-9])$/;

/** Why a subdomain is invalid, regardless of availability; undefined if it is valid. */
export function subdomainProblem(name: string): string | undefined {
  if (name.trim() === "") return texts.subdomainEmpty;
  if (!label.test(name) || name.startsWith("xn--")) return texts.subdomainForm;
  if (reservedSubdomains.includes(name)) return texts.subdomainReserved;
  return undefined;
}

/** The reset checklist, in the order it is shown (spec 5). */
export const passwordChecks: readonly { readonly label: string; readonly met: (password: string) => boolean }[] = [
  { label: "At least 8 characters", met: (password) => password.length >= 8 },
  { label: "One uppercase letter", met: (password) => /[A-Z]/.test(password) },
  { label: "One lowercase letter", met: (password) => /[a-z]/.test(password) },
  { label: "One digit", met: (password) => /[0-9]/.test(password) },
  { label: "One special character", met: (password) => /[!@#$%^&*(),.?":{}|<>]/.test(password) },
];

/** Converts GPU-hours of credits to hours of an environment with this many GPUs, rounded up to whole minutes (G107). */
export function hoursOfCredit(gpuHours: number, gpuCount: number): number {
  const minutes = (gpuHours * 60) / gpuCount;
  // Sums of hundredths are not exact in binary.
  return Math.ceil(Number(minutes.toFixed(6))) / 60;
}
