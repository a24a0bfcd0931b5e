// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"go/build"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robfig/cron/v3"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// between lists the scheduled times of a spec in (from, to], by the clock of its zone.
func between(t *testing.T, spec v1alpha1.AdvancedCronJobSpec, from, to string) (all []string) {
	t.Helper()
	schedule, unknown, err := parseSchedule(&spec)
	if err != nil || unknown != nil {
		t.Fatal(err, unknown)
	}
	zone := time.UTC
	if spec.TimeZone != nil {
		if zone, err = time.LoadLocation(*spec.TimeZone); err != nil {
			t.Fatal(err)
		}
	}
	start, end := mustTime(t, from), mustTime(t, to)
	for at := schedule.Next(start); !at.IsZero() && !at.After(end); at = schedule.Next(at) {
		all = append(all, at.In(zone).Format("02 15:04 MST"))
	}
	return all
}

func mustTime(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
}

// In New York clocks go from 2:00 to 3:00 on the 13th of March 2022. They go from 2:00 back to 1:00 on the 6th of November. In
// Berlin they go at 2:00 and at 3:00; in Santiago at midnight.
func TestDaylightSaving(t *testing.T) {
	const newYork, berlin, santiago = "America/New_York", "Europe/Berlin", "America/Santiago"
	for _, test := range []struct {
		name, schedule, zone, from, to string
		want                           []string
	}{
		{"ACJ-7.2: spring, in the gap", "30 2 * * *", newYork, "2022-03-12T05:00:00Z", "2022-03-15T04:00:00Z",
			[]string{"12 02:30 EST", "13 03:00 EDT", "14 02:30 EDT"}},
		{"ACJ-7.2: spring, the begin of the gap", "0 2 * * *", newYork, "2022-03-12T05:00:00Z", "2022-03-15T04:00:00Z",
			[]string{"12 02:00 EST", "13 03:00 EDT", "14 02:00 EDT"}},
		{"ACJ-7.2: spring, the end of the gap", "0 3 * * *", newYork, "2022-03-12T05:00:00Z", "2022-03-14T05:00:00Z",
			[]string{"12 03:00 EST", "13 03:00 EDT"}},
		{"ACJ-7.2: spring, every hour", "0 * * * *", newYork, "2022-03-13T05:30:00Z", "2022-03-13T08:30:00Z",
			[]string{"13 01:00 EST", "13 03:00 EDT", "13 04:00 EDT"}},
		{"ACJ-7.2: spring, every 30 minutes", "*/30 * * * *", newYork, "2022-03-13T06:00:00Z", "2022-03-13T07:30:00Z",
			[]string{"13 01:30 EST", "13 03:00 EDT", "13 03:30 EDT"}},
		{"ACJ-7.2: spring, @every", "@every 1h", newYork, "2022-03-13T05:30:00Z", "2022-03-13T08:30:00Z",
			[]string{"13 01:30 EST", "13 03:30 EDT", "13 04:30 EDT"}},
		{"ACJ-7.2: autumn, in the hour that comes twice", "30 1 * * *", newYork, "2022-11-05T04:00:00Z", "2022-11-08T04:00:00Z",
			[]string{"05 01:30 EDT", "06 01:30 EDT", "07 01:30 EST"}},
		{"ACJ-7.2: autumn, its end", "0 2 * * *", newYork, "2022-11-06T04:00:00Z", "2022-11-07T05:00:00Z",
			[]string{"06 02:00 EST"}},
		{"ACJ-7.2: autumn, every hour", "0 * * * *", newYork, "2022-11-06T04:30:00Z", "2022-11-06T07:30:00Z",
			[]string{"06 01:00 EDT", "06 01:00 EST", "06 02:00 EST"}},
		{"ACJ-7.2: autumn, @every", "@every 1h", newYork, "2022-11-06T04:30:00Z", "2022-11-06T06:30:00Z",
			[]string{"06 01:30 EDT", "06 01:30 EST"}},
		{"ACJ-7.2: spring in Berlin", "30 2 * * *", berlin, "2022-03-26T00:00:00Z", "2022-03-29T00:00:00Z",
			[]string{"26 02:30 CET", "27 03:00 CEST", "28 02:30 CEST"}},
		{"ACJ-7.2: autumn in Berlin", "30 2 * * *", berlin, "2022-10-29T12:00:00Z", "2022-10-31T00:00:00Z",
			[]string{"30 02:30 CEST"}},
		{"ACJ-7.2: no midnight", "0 0 * * *", santiago, "2022-09-10T12:00:00Z", "2022-09-13T12:00:00Z",
			[]string{"11 01:00 -03", "12 00:00 -03", "13 00:00 -03"}},
		{"ACJ-7.2: two midnights would be two days", "0 0 * * *", santiago, "2022-04-02T00:00:00Z", "2022-04-04T12:00:00Z",
			[]string{"02 00:00 -03", "03 00:00 -04", "04 00:00 -04"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := between(t, v1alpha1.AdvancedCronJobSpec{Schedule: test.schedule, TimeZone: &test.zone}, test.from, test.to)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("scheduled times (-want +got):\n%s", diff)
			}
		})
	}
}

func TestZones(t *testing.T) {
	shanghai := "Asia/Shanghai"
	for _, test := range []struct {
		name, schedule string
		zone           *string
		now, want      string
	}{
		{"ACJ-7.1: the zone of the process", "0 10 * * ?", nil, "2022-09-05T09:01:00Z", "2022-09-05T10:00:00Z"},
		{"ACJ-7.1: spec.timeZone", "0 10 * * ?", &shanghai, "2022-09-05T09:01:00Z", "2022-09-06T02:00:00Z"},
		{"ACJ-7.1: the schedule's own", "TZ=Asia/Shanghai 0 10 * * ?", nil, "2022-09-05T09:01:00Z", "2022-09-06T02:00:00Z"},
		{"ACJ-7.1: the schedule's own, first", "CRON_TZ=Etc/UTC 0 10 * * ?", &shanghai, "2022-09-05T09:01:00Z", "2022-09-05T10:00:00Z"},
		{"ACJ-7.1: unknown, so that of the process", "0 10 * * ?", new("Mars/Phobos"), "2022-09-05T09:01:00Z", "2022-09-05T10:00:00Z"},
		{"ACJ-7.1: the process is elsewhere", "0 10 * * ?", nil, "2022-09-05T09:01:00+02:00", "2022-09-05T10:00:00+02:00"},
		{"ACJ-7: a descriptor", "@daily", &shanghai, "2022-09-05T09:01:00Z", "2022-09-05T16:00:00Z"},
		{"ACJ-7: @every", "@every 90m", nil, "2022-09-05T09:01:00Z", "2022-09-05T10:31:00Z"},
	} {
		t.Run(test.name, func(t *testing.T) {
			schedule, unknown, err := parseSchedule(&v1alpha1.AdvancedCronJobSpec{Schedule: test.schedule, TimeZone: test.zone})
			if err != nil || (unknown != nil) != (test.zone != nil && *test.zone == "Mars/Phobos") {
				t.Fatal(err, unknown)
			}
			now, err := time.Parse(time.RFC3339, test.now)
			if err != nil {
				t.Fatal(err)
			}
			if got := schedule.Next(now).Format(time.RFC3339); got != test.want {
				t.Errorf("next is %s, want %s", got, test.want)
			}
		})
	}
}

func TestUnreadableSchedules(t *testing.T) {
	for _, text := range []string{"", "TZ=", "TZ=UTC", "CRON_TZ=UTC", "TZ=Mars/Phobos 0 0 * * *", "* * * *", "* * * * * *", "60 * * * *", "0 24 * * *",
		"0 0 32 * *", "a * * * *", "@never", "@every", "@every x", "0 0 * * * TZ=UTC", "TZ=\t* * * * *", "@every -1h", "@every 0s", "@every 999ms", "0 0 31 2 *", "TZ=UTC 0 0 30 2 *", "*/0 * * * *", "1-0 * * * *", "1-2-3 * * * *"} {
		if schedule, err := parse(text); err == nil {
			t.Errorf("ACJ-7: %q is read as %v", text, schedule)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"TZ=UTC", "*/5 * * * *", "@every 1h", "TZ=Asia/Shanghai 0 10 * * ?", "CRON_TZ=", "1-5/2,7 * L * *"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		schedule, err := parse(text)
		if err != nil {
			return
		}
		now := time.Date(2022, 9, 5, 9, 1, 0, 0, time.UTC)
		if next := schedule.Next(now); !next.IsZero() && !next.After(now) {
			t.Errorf("%q: after %s comes %s", text, now, next)
		}
	})
}

// The latest scheduled time is found alike whether the times are counted or not.
func TestLatestOfMany(t *testing.T) {
	schedules := []string{"* * * * *", "*/7 * * * *", "30 2 * * *", "0 0 1 * *", "0 9-17 * * 1-5", "@every 61s", "@every 7h", "@hourly"}
	zones := []string{"Etc/UTC", "America/New_York", "Europe/Berlin"}
	rapid.Check(t, func(t *rapid.T) {
		text, zone := rapid.SampledFrom(schedules).Draw(t, "schedule"), rapid.SampledFrom(zones).Draw(t, "zone")
		schedule, unknown, err := parseSchedule(&v1alpha1.AdvancedCronJobSpec{Schedule: text, TimeZone: &zone})
		if err != nil || unknown != nil {
			t.Fatal(err, unknown)
		}
		start := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
		after := start.Add(time.Duration(rapid.IntRange(0, 400*24*3600).Draw(t, "after")) * time.Second)
		now := after.Add(time.Duration(rapid.IntRange(0, 30*24*3600).Draw(t, "passed")) * time.Second)
		var want time.Time
		count := 0
		for at := schedule.Next(after); !at.IsZero() && !at.After(now); at = schedule.Next(at) {
			want, count = at, count+1
		}
		latest, n := missed(schedule, after, now)
		if !latest.Equal(want) || n != min(count, mostMissed+1) {
			t.Errorf("ACJ-9: found %s of %d, want %s of %d", latest, n, want, count)
		}
	})
}

// counting counts how often it is asked.
type counting struct {
	cron.Schedule
	asked int
}

func (c *counting) Next(after time.Time) time.Time {
	c.asked++
	return c.Schedule.Next(after)
}

func TestLatestOfYears(t *testing.T) {
	schedule, err := parse("* * 1 1 *")
	if err != nil {
		t.Fatal(err)
	}
	counted := &counting{Schedule: schedule}
	latest, n := missed(counted, mustTime(t, "0001-01-01T00:00:00Z"), mustTime(t, "2022-12-31T00:00:00Z"))
	if want := mustTime(t, "2022-01-01T23:59:00Z"); !latest.Equal(want) || n != mostMissed+1 {
		t.Errorf("ACJ-9: found %s of %d, want %s", latest, n, want)
	}
	if counted.asked > 2*mostMissed {
		t.Errorf("the schedule was asked %d times", counted.asked)
	}
}

func TestTimeZonesAreBuiltIn(t *testing.T) {
	pkg, err := build.ImportDir(".", 0)
	if err != nil || !slices.Contains(pkg.Imports, "time/tzdata") {
		t.Errorf("ACJ-7.3: error %v, imported: %v", err, pkg.Imports)
	}
}
