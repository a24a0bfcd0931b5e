// Package display shows a rollout to a person: on a terminal as one table that
// is drawn over again in place, and elsewhere as plain text at every step.
//
// [Render] makes lines of a [View] and does nothing else; [Screen] puts lines on
// a terminal.
package display
