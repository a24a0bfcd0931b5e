// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"flag"
	"testing"
	"time"
)

var everyMinute = flag.Bool("every-minute", false, "look at every minute of 2025 to 2030, and not only at the days on which clocks are set")

// walls are schedules, and the times on the wall that they mean.
var walls = []struct {
	schedule string
	fixed    bool // not all hours
	match    func(time.Time) bool
}{
	{"0 2 * * *", true, func(l time.Time) bool { return l.Hour() == 2 && l.Minute() == 0 }},
	{"0 2 * * 0", true, func(l time.Time) bool { return l.Weekday() == 0 && l.Hour() == 2 && l.Minute() == 0 }},
	{"0 3 * * 5", true, func(l time.Time) bool { return l.Weekday() == 5 && l.Hour() == 3 && l.Minute() == 0 }},
	{"0 0 * * *", true, func(l time.Time) bool { return l.Hour() == 0 && l.Minute() == 0 }},
	{"*/20 1-3 * * *", true, func(l time.Time) bool { return l.Hour() >= 1 && l.Hour() <= 3 && l.Minute()%20 == 0 }},
	{"15 * * * *", false, func(l time.Time) bool { return l.Minute() == 15 }},
	{"*/30 * * * 0", false, func(l time.Time) bool { return l.Weekday() == 0 && l.Minute()%30 == 0 }},
}

// Every minute that a schedule means is run once, whatever becomes of the clocks: the other side walks through the
// minutes, and looks at the clock on the wall.
func TestEveryMinute(t *testing.T) {
	from, to := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range []string{"Africa/Cairo", "Africa/Casablanca", "America/Asuncion", "America/Havana", "America/New_York", "America/Santiago",
		"America/St_Johns", "America/Nuuk", "Antarctica/Troll", "Asia/Beirut", "Asia/Gaza", "Asia/Jerusalem", "Asia/Kolkata", "Asia/Shanghai",
		"Atlantic/Azores", "Australia/Lord_Howe", "Europe/Berlin", "Europe/Chisinau", "Pacific/Auckland", "Pacific/Chatham"} {
		t.Run(name, func(t *testing.T) {
			zone, err := time.LoadLocation(name)
			if err != nil {
				t.Fatal(err)
			}
			for at := from; at.Before(to); {
				end := to
				if !*everyMinute { // two days before and after each change
					_, change := at.In(zone).ZoneBounds()
					if change.IsZero() || change.After(to) {
						break
					}
					at, end = change.Add(-48*time.Hour), change.Add(48*time.Hour)
				}
				for i := range walls {
					checkMinutes(t, zone, i, at.UTC(), end.UTC())
				}
				at = end
			}
		})
	}
}

// checkMinutes compares a schedule with the clock on the wall, minute by minute.
func checkMinutes(t *testing.T, zone *time.Location, i int, from, to time.Time) {
	t.Helper()
	w := walls[i]
	schedule, err := parse("TZ=" + zone.String() + " " + w.schedule)
	if err != nil {
		t.Fatal(err)
	}
	wall := func(at time.Time) time.Time { // as a time of UTC
		l := at.In(zone)
		return time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), 0, 0, time.UTC)
	}
	next, newest := schedule.Next(from), wall(from)
	for at := from.Add(time.Minute); at.Before(to); at = at.Add(time.Minute) {
		shows := wall(at)
		want := w.match(shows) && (!w.fixed || shows.After(newest))
		for skipped := newest.Add(time.Minute); w.fixed && skipped.Before(shows); skipped = skipped.Add(time.Minute) {
			want = want || w.match(skipped)
		}
		if shows.After(newest) {
			newest = shows
		}
		if got := next.Equal(at); got != want {
			t.Errorf("ACJ-7.2: %s %q at %s: run %t, want %t", zone, w.schedule, at.In(zone), got, want)
			return
		}
		if want {
			next = schedule.Next(at)
		}
	}
}
