// Package history follows the pods of one rollout from event to event and says
// whether what was promised of it held.
//
// It looks at every state that the API server reported, not at samples: an
// informer hands each event to a [Recorder], which counts the pods that are
// unavailable then and there. A promise that was broken for a millisecond was
// broken. And a promise that could not be checked, because nothing was seen,
// counts as broken too.
//
// Nothing here talks to an API server or reads a clock.
package history
