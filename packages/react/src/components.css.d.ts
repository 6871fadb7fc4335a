/* The style sheet of the components: it exports nothing. */
