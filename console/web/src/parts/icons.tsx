import type { ReactNode } from "react";

/** Lines on a grid of 24, in the colour of the text. Beside a text they say nothing new. */
function icon(paths: ReactNode) {
  return function Icon({ size = 18 }: { readonly size?: number }) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth={1.75}
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
      >
        {paths}
      </svg>
    );
  };
}

export const OverviewIcon = icon(<path d="M4 5h7v6H4zM13 5h7v3h-7zM13 11h7v8h-7zM4 14h7v5H4z" />);
export const RequestIcon = icon(<path d="M4 8h13l-4-4M20 16H7l4 4" />);
export const FindIcon = icon(
  <>
    <circle cx="11" cy="11" r="6" />
    <path d="m16 16 4 4" />
  </>,
);
export const KeyIcon = icon(
  <>
    <circle cx="8" cy="15" r="4" />
    <path d="m11 12 8-8M16 7l3 3M14 9l2 2" />
  </>,
);
export const ReceiverIcon = icon(<path d="M4 12h10m0 0-4-4m4 4-4 4M14 5h4a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2h-4" />);
export const EventIcon = icon(<path d="M13 3 5 14h6l-1 7 8-11h-6z" />);
export const UsageIcon = icon(<path d="M4 20h16M7 20v-6M12 20V5M17 20v-9" />);
export const MembersIcon = icon(
  <>
    <circle cx="9" cy="8" r="3.5" />
    <path d="M3 20c0-3.5 2.5-6 6-6s6 2.5 6 6M16 5a3.5 3.5 0 0 1 0 6.5M18 14.5c2 .8 3 2.9 3 5.5" />
  </>,
);
export const MailIcon = icon(<path d="M4 6h16v12H4zM4 7l8 6 8-6" />);
export const AuditIcon = icon(<path d="M6 3h9l4 4v14H6zM14 3v5h5M9 12h7M9 16h7" />);
export const AssistantIcon = icon(<path d="M12 4l1.8 5.2L19 11l-5.2 1.8L12 18l-1.8-5.2L5 11l5.2-1.8zM18.5 16.5v4M16.5 18.5h4" />);
export const ReferenceIcon = icon(<path d="M5 4h10a4 4 0 0 1 4 4v12H8a3 3 0 0 1-3-3zm0 13a3 3 0 0 1 3-3h11M9 8h6" />);
export const CopyIcon = icon(<path d="M9 9h10v11H9zM15 9V4H5v11h4" />);
export const CheckIcon = icon(<path d="m5 12.5 4.5 4.5L19 7.5" />);
export const SignOutIcon = icon(<path d="M14 5H6v14h8M10 12h10m0 0-3.5-3.5M20 12l-3.5 3.5" />);
export const PlanIcon = icon(<path d="M8 4h8v3H8zM16 5h3v15H5V5h3M9 12h6M9 16h4" />);
export const UpIcon = icon(<path d="M12 19V6M6.5 11.5 12 6l5.5 5.5" />);
export const DownIcon = icon(<path d="M12 5v13M6.5 12.5 12 18l5.5-5.5" />);
export const RemoveIcon = icon(<path d="m6.5 6.5 11 11M17.5 6.5l-11 11" />);
export const MenuIcon = icon(<path d="M4 7h16M4 12h16M4 17h16" />);
