/** What is wrong with a form as a whole. It is there before it says anything, so that it is heard. */
export const FormFault = ({ fault }: { fault: string | null }) => (
  <p role="alert" className="text-sm wrap-anywhere text-bad empty:hidden">
    {fault}
  </p>
);
