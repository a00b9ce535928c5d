/** What the pages say until `GET /config` has answered, and in the prerendered landing page. */
export const brand = {
  name: "Berth",
  email: "hello@berth.example",
  supportName: "the founder",
};

export const exampleHost = "berth.example";

export const legalLinks = [
  { label: "Terms of Service", to: "/terms-condition" },
  { label: "Refund policy", to: "/refund" },
  { label: "Privacy Policy", to: "/privacy-policy" },
  { label: "Legal Compliance", to: "/legal-compliance" },
  { label: "Delivery policy", to: "/delivery-policy" },
];
