// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"flag"
	"slices"
	"testing"
	"time"
)

var everyMinute = flag.Bool("every-minute", false, "look at every minute of 2024 to 2029, and not only at the days on which clocks are set")

// wall is a schedule, and the times on the wall that it means.
type wall struct {
	schedule string
	fixed    bool // not all hours
	match    func(time.Time) bool
}

var walls = []wall{
	{"0 2 * * *", true, func(l time.Time) bool { return l.Hour() == 2 && l.Minute() == 0 }},
	{"30 2 * * *", true, func(l time.Time) bool { return l.Hour() == 2 && l.Minute() == 30 }},
	{"0 2 * * 0", true, func(l time.Time) bool { return l.Weekday() == 0 && l.Hour() == 2 && l.Minute() == 0 }},
	{"0 3 * * 5", true, func(l time.Time) bool { return l.Weekday() == 5 && l.Hour() == 3 && l.Minute() == 0 }},
	{"@daily", true, func(l time.Time) bool { return l.Hour() == 0 && l.Minute() == 0 }},
	{"*/20 1-3 * * *", true, func(l time.Time) bool { return l.Hour() >= 1 && l.Hour() <= 3 && l.Minute()%20 == 0 }},
	{"5,45 0,1,23 * * 1-5", true, func(l time.Time) bool {
		return l.Weekday()%6 != 0 && (l.Hour() < 2 || l.Hour() == 23) && (l.Minute() == 5 || l.Minute() == 45)
	}},
	{"15 1 29-31 * *", true, func(l time.Time) bool { return l.Day() >= 29 && l.Hour() == 1 && l.Minute() == 15 }},
	{"0 0 1 * 0", true, func(l time.Time) bool { return (l.Day() == 1 || l.Weekday() == 0) && l.Hour() == 0 && l.Minute() == 0 }},
	{"30 1 29 2 *", true, func(l time.Time) bool { return l.Month() == 2 && l.Day() == 29 && l.Hour() == 1 && l.Minute() == 30 }},
	{"@hourly", false, func(l time.Time) bool { return l.Minute() == 0 }},
	{"15 * * * *", false, func(l time.Time) bool { return l.Minute() == 15 }},
	{"*/7 * * 3,10 *", false, func(l time.Time) bool { return l.Month()%7 == 3 && l.Minute()%7 == 0 }},
	{"*/30 * * * 0", false, func(l time.Time) bool { return l.Weekday() == 0 && l.Minute()%30 == 0 }},
}

// zones are those whose clocks are set in every way that there is, and zones whose clocks stand. Clocks are set by 30 minutes and
// by two hours, at midnight, in the month of Ramadan, or forward and never back.
var zones = []string{"Africa/Cairo", "Africa/Casablanca", "America/Asuncion", "America/Havana", "America/New_York", "America/Nuuk", "America/Santiago",
	"America/Sao_Paulo", "America/St_Johns", "Antarctica/Troll", "Asia/Almaty", "Asia/Beirut", "Asia/Gaza", "Asia/Kolkata", "Asia/Tehran", "Atlantic/Azores",
	"Australia/Adelaide", "Australia/Lord_Howe", "Europe/Berlin", "Europe/Chisinau", "Europe/Dublin", "Pacific/Apia", "Pacific/Chatham", "UTC"}

// Every minute that a schedule means is run once, whatever becomes of the clocks. The test walks through the minutes, and looks
// at the clock on the wall. It also checks that a change of the clock is told with the jobs that it is about, and with no others.
func TestEveryMinute(t *testing.T) {
	from, to := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range zones {
		t.Run(name, func(t *testing.T) {
			zone, err := time.LoadLocation(name)
			if err != nil {
				t.Fatal(err)
			}
			changes := changesOf(zone, from, to)
			if *everyMinute {
				for _, w := range walls {
					w.check(t, zone, changes, from, to)
				}
				return
			}
			for _, c := range changes { // two days before and after each
				for _, w := range walls {
					w.check(t, zone, changes, c.at.Add(-48*time.Hour), c.at.Add(48*time.Hour))
				}
			}
		})
	}
}

// ACJ-7.2: in Apia, the 30th of December 2011 never was.
func TestADayThatNeverWas(t *testing.T) {
	zone, err := time.LoadLocation("Pacific/Apia")
	if err != nil {
		t.Fatal(err)
	}
	from, to := time.Date(2011, 12, 28, 10, 0, 0, 0, time.UTC), time.Date(2012, 1, 1, 10, 0, 0, 0, time.UTC)
	for _, w := range walls {
		w.check(t, zone, changesOf(zone, from, to), from, to)
	}
}

// wallChange is a moment in which a clock is set from one time on the wall to another.
type wallChange struct{ at, from, to time.Time }

// changesOf finds them: it looks at the clock every quarter of an hour, when clocks are set.
func changesOf(zone *time.Location, from, to time.Time) (changes []wallChange) {
	const step = 15 * time.Minute
	was := onWall(zone, from)
	for at := from.Add(step); at.Before(to); at = at.Add(step) {
		is := onWall(zone, at)
		if is.Sub(was) == step {
			was = is
			continue
		}
		before := onWall(zone, at.Add(-step))
		for minute := at.Add(-step + time.Minute); !minute.After(at); minute = minute.Add(time.Minute) {
			if shows := onWall(zone, minute); !shows.Equal(before.Add(time.Minute)) {
				changes = append(changes, wallChange{minute, before.Add(time.Minute), shows})
			}
			before = onWall(zone, minute)
		}
		was = is
	}
	return changes
}

// onWall is what the clock of a zone shows, as a time of UTC.
func onWall(zone *time.Location, at time.Time) time.Time {
	l := at.In(zone)
	return time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), 0, 0, time.UTC)
}

// due are the minutes after a moment, and up to another, at which the schedule is due by the clock on the wall. (ACJ-7.2)
func (w *wall) due(zone *time.Location, from, to time.Time) (all []time.Time) {
	newest := onWall(zone, from)
	for at := from.Add(time.Minute); !at.After(to); at = at.Add(time.Minute) {
		shows := onWall(zone, at)
		if w.match(shows) && (!w.fixed || shows.After(newest)) || w.fixed && matches(w.match, newest.Add(time.Minute), shows) {
			all = append(all, at)
		}
		if shows.After(newest) {
			newest = shows
		}
	}
	return all
}

// check compares what reads a schedule with the clock on the wall.
func (w *wall) check(t *testing.T, zone *time.Location, changes []wallChange, from, to time.Time) {
	t.Helper()
	schedule, err := parse("TZ=" + zone.String() + " " + w.schedule)
	if err != nil {
		t.Fatal(err)
	}
	last := from
	for _, at := range w.due(zone, from, to) {
		if next := schedule.Next(last); !next.Equal(at) {
			t.Errorf("ACJ-7.2: %s %q after %s: run at %s, want %s", zone, w.schedule, last.In(zone), next.In(zone), at.In(zone))
			return
		}
		if said, want := schedule.(*wallClock).changed(at), w.isTold(changes, last, at, onWall(zone, at)); (said != "") != want {
			t.Errorf("ACJ-19: %s %q at %s: said %q, want it %t", zone, w.schedule, at.In(zone), said, want)
			return
		}
		last = at
	}
	if next := schedule.Next(last); !next.IsZero() && !next.After(to) {
		t.Errorf("ACJ-7.2: %s %q after %s: run at %s, want none before %s", zone, w.schedule, last.In(zone), next.In(zone), to.In(zone))
	}
}

// isTold tells whether a change of the clock is to be said of the run at a moment, after the last one.
func (w *wall) isTold(changes []wallChange, last, at, shows time.Time) bool {
	return slices.ContainsFunc(changes, func(c wallChange) bool {
		switch first := last.Before(c.at) && !at.Before(c.at); {
		case c.from.Before(c.to):
			return first && matches(w.match, c.from, c.to)
		case !w.fixed:
			return first && matches(w.match, c.to, c.from)
		}
		return at.Before(c.at) && !at.Before(c.at.Add(c.to.Sub(c.from))) && !matches(w.match, c.to, shows)
	})
}

// matches tells whether any minute from one on, and before another, is meant.
func matches(match func(time.Time) bool, from, to time.Time) bool {
	for ; from.Before(to); from = from.Add(time.Minute) {
		if match(from) {
			return true
		}
	}
	return false
}
