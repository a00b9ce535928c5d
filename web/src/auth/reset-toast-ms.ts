/** How long toasts stay on the forgot and reset screens (spec 9.2). */
export const resetToastMs = { success: 4000, error: 6000, info: 6000 } as const;
