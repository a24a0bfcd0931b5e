// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"time"

	"github.com/robfig/cron/v3"
)

// wallClock has the times of a schedule by the clock on the wall of a zone. That includes days on which the
// clock is set forward or back: there the library loses times. (ACJ-7.2)
type wallClock struct {
	// fields is the schedule in UTC, in which clocks are never set.
	fields cron.SpecSchedule
	// zone is nil if it is that of the times that are asked about.
	zone *time.Location
	// fixed says that the schedule does not name all hours.
	fixed bool
}

// allHours are the bits of a field that names every hour.
const allHours = 1<<24 - 1

func onTheWall(s *cron.SpecSchedule) *wallClock {
	w := &wallClock{fields: *s, fixed: s.Hour&allHours != allHours}
	if s.Location != time.Local {
		w.zone = s.Location
	}
	w.fields.Location = time.UTC
	return w
}

// Next returns the first scheduled time after a moment, the zero time if none comes in five years.
//
// Between two changes of the clock its time is that of UTC, shifted. So it looks for the next time in UTC,
// and then which period it is in. A time that comes twice counts once, unless the schedule names all
// hours. One that is skipped counts as the moment in which the clock is set forward then.
func (w *wallClock) Next(after time.Time) time.Time {
	p := periodAt(w.in(after))
	from := p.wall(after)
	if repeated := p.repeatedUntil(); w.fixed && from.Before(repeated) {
		from = repeated.Add(-time.Second)
	}
	for next := w.fields.Next(from); ; {
		if next.IsZero() || p.end.IsZero() || next.Before(p.wall(p.end)) {
			return p.moment(next).In(after.Location())
		}
		then := periodAt(p.end)
		begins := then.wall(p.end)
		switch skipped := next.Before(begins); {
		case skipped && w.fixed:
			return p.end.In(after.Location())
		case skipped, !w.fixed: // it names all hours, also those that come twice
			next = w.fields.Next(begins.Add(-time.Second))
		}
		p = then
	}
}

// in returns a moment in the zone of the schedule.
func (w *wallClock) in(t time.Time) time.Time {
	if w.zone == nil {
		return t
	}
	return t.In(w.zone)
}

// changed says what becomes of scheduled times because the clock is set, and why. It is empty unless the one at due is
// the first about which that is to be said. (ACJ-19)
func (w *wallClock) changed(due time.Time) string {
	due = w.in(due)
	p := periodAt(due)
	if before, ok := periodBefore(p); ok && w.Next(p.start.Add(-time.Second)).Equal(due) {
		from, to := before.wall(p.start), p.wall(p.start)
		switch {
		case from.Before(to) && w.names(from, to) && w.fixed:
			return howSet(due.Location(), from, to) + ": what is scheduled between is skipped by the clock, and is run once at that moment"
		case from.Before(to) && w.names(from, to):
			return howSet(due.Location(), from, to) + ": what is scheduled between is skipped by the clock, and is not run, as the schedule names all hours"
		case to.Before(from) && w.names(to, from) && !w.fixed:
			return howSet(due.Location(), from, to) + ": what is scheduled between comes twice, and is run twice, as the schedule names all hours"
		}
	}
	if p.end.IsZero() || !w.fixed {
		return ""
	}
	then := periodAt(p.end.In(due.Location()))
	from, to := p.wall(p.end), then.wall(p.end)
	if to.Before(from) && w.fields.Next(to.Add(-time.Second)).Equal(p.wall(due)) {
		return howSet(due.Location(), from, to) + ": what is scheduled between comes twice, and is run the first time alone"
	}
	return ""
}

// names tells whether the schedule names a time of the clock that is not before from, and is before to.
func (w *wallClock) names(from, to time.Time) bool {
	next := w.fields.Next(from.Add(-time.Second))
	return !next.IsZero() && next.Before(to)
}

// howSet says how the clock is set.
func howSet(zone *time.Location, from, to time.Time) string {
	return "the clock of the time zone " + zone.String() + " goes from " + from.Format(time.DateTime) + " to " + to.Format(time.DateTime)
}

// period is the time between two changes of the clock of a zone.
type period struct {
	start, end time.Time // zero for none
	offset     time.Duration
}

func periodAt(t time.Time) period {
	start, end := t.ZoneBounds()
	_, seconds := t.Zone()
	return period{start, end, time.Duration(seconds) * time.Second}
}

// wall is what the clock shows at a moment, as a time of UTC.
func (p *period) wall(t time.Time) time.Time { return t.UTC().Add(p.offset) }

// moment is when the clock shows a time; zero for the zero time.
func (p *period) moment(wall time.Time) time.Time {
	if wall.IsZero() {
		return wall
	}
	return wall.Add(-p.offset)
}

// repeatedUntil is until when the clock shows what it has shown before; in the past if it was not set back.
func (p *period) repeatedUntil() time.Time {
	before, ok := periodBefore(*p)
	if !ok {
		return time.Time{}
	}
	return before.wall(p.start)
}

func periodBefore(p period) (before period, ok bool) {
	if p.start.IsZero() {
		return period{}, false
	}
	return periodAt(p.start.Add(-time.Second)), true
}
