/** The topic to which the ids of sessions with new records are sent. `service`: the name of the object of the sessions. */
export const headTopic = (service: string): string => `restate/${service}`;
