/** The topic on which processes with effects report the ids of sessions whose records have grown. */
export const headTopic = (service: string): string => `restate/${service}`;
