/** What the pages say where no server has said otherwise: under the development server, and in a bare build. */
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
