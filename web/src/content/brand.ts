/** The defaults of the development server and of a build without a server. */
export const brand = {
  name: "Berth",
  email: "hello@berth.example",
  supportName: "the founder",
};

/** Behind the brand's name in the title of the landing page. */
export const slogan = "your own GPU by the hour";

export const exampleHost = "berth.example";

export const legalLinks = [
  { label: "Terms of Service", to: "/terms-condition" },
  { label: "Refund policy", to: "/refund" },
  { label: "Privacy Policy", to: "/privacy-policy" },
  { label: "Legal Compliance", to: "/legal-compliance" },
  { label: "Delivery policy", to: "/delivery-policy" },
];
