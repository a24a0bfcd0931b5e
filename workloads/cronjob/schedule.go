// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // for machines that have no time zones (ACJ-7.3)

	"github.com/robfig/cron/v3"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// mostMissed is how many missed times are counted one by one.
const mostMissed = 100

// parseSchedule reads schedule and time zone. An unknown time zone is left out,
// and said beside the schedule. (ACJ-7)
func parseSchedule(spec *v1alpha1.AdvancedCronJobSpec) (schedule cron.Schedule, unknownZone, err error) {
	text := scheduleOf(spec)
	if spec.TimeZone != nil && text != spec.Schedule {
		if unknownZone = checkZone(*spec.TimeZone); unknownZone != nil {
			text = spec.Schedule
		}
	}
	schedule, err = parse(text)
	return schedule, unknownZone, err
}

// parse reads a schedule as cron.ParseStandard does, which panics if nothing follows the time zone. A schedule that never comes
// is an error. One that comes more than once a second is an error too: the library takes it for a second. (ACJ-7)
func parse(text string) (cron.Schedule, error) {
	if (strings.HasPrefix(text, "TZ=") || strings.HasPrefix(text, "CRON_TZ=")) && !strings.Contains(text, " ") {
		return nil, errors.New("nothing follows the time zone: want five fields, or a descriptor such as @daily")
	}
	schedule, err := cron.ParseStandard(text)
	if err != nil {
		return nil, err
	}
	if _, every, found := strings.Cut(text, "@every "); found {
		if delay, err := time.ParseDuration(every); err == nil && delay < time.Second {
			return nil, fmt.Errorf("@every must be 1s or more, is %s", every)
		}
	}
	if fields, ok := schedule.(*cron.SpecSchedule); ok {
		schedule = onTheWall(fields)
	}
	if schedule.Next(anyTime).IsZero() {
		return nil, errors.New("it never comes: no month has such a day")
	}
	return schedule, nil
}

// anyTime begins the five years in which a schedule must have a time.
var anyTime = time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)

// namesZone tells whether a schedule names a time zone itself. (ACJ-7.1)
func namesZone(schedule string) bool { return strings.Contains(schedule, "TZ") }

// checkZone returns an error for what is no name of a time zone.
func checkZone(name string) error {
	if name == "" || strings.EqualFold(name, "Local") {
		return fmt.Errorf("%q is no time zone of the IANA database, such as Etc/UTC", name)
	}
	if _, err := time.LoadLocation(name); err != nil {
		return fmt.Errorf("%q is not known as a time zone of the IANA database: %w", name, err)
	}
	return nil
}

// missed returns the latest scheduled time that is later than after and not later than
// now, and how many there are. Without any it is the zero time. Beyond mostMissed they
// are not counted. (ACJ-9)
func missed(schedule cron.Schedule, after, now time.Time) (latest time.Time, count int) {
	for t := schedule.Next(after); !t.IsZero() && !t.After(now); t = schedule.Next(t) {
		latest = t
		if count++; count > mostMissed {
			return latestAmongMany(schedule, latest, now), count
		}
	}
	return latest, count
}

// latestAmongMany returns the latest scheduled time that is not later than now. There
// is a scheduled time at from, and years of others may follow.
func latestAmongMany(schedule cron.Schedule, from, now time.Time) time.Time {
	if every, ok := schedule.(cron.ConstantDelaySchedule); ok {
		return from.Add(now.Sub(from) / every.Delay * every.Delay)
	}
	// The next time after low is not later than now, and that after high is.
	low, high := from.Unix()-1, now.Unix()
	for high-low > 1 {
		middle := low + (high-low)/2
		if next := schedule.Next(time.Unix(middle, 0).In(now.Location())); next.IsZero() || next.After(now) {
			high = middle
		} else {
			low = middle
		}
	}
	return schedule.Next(time.Unix(low, 0).In(now.Location()))
}

// later returns the later one of two times.
func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
