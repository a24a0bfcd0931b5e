// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"fmt"
	"go/build"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/robfig/cron/v3"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestSchedules shows scheduled times, by the schedules of testdata/schedules.txt: those between two moments, or the one that is next. "missed"
// shows how many there were between two moments, and the latest of them. (ACJ-7)
func TestSchedules(t *testing.T) {
	datadriven.RunTest(t, "testdata/schedules.txt", func(t *testing.T, d *datadriven.TestData) string {
		args := map[string]string{}
		for _, arg := range d.CmdArgs {
			args[arg.Key] = strings.Join(arg.Vals, "")
		}
		spec := v1alpha1.AdvancedCronJobSpec{Schedule: d.Input}
		if name := args["zone"]; name != "" {
			spec.TimeZone = &name
		}
		schedule, unknown, err := parseSchedule(&spec)
		if err != nil || (unknown != nil) != (args["zone"] == "Mars/Phobos") {
			t.Fatal(err, unknown)
		}
		if d.Cmd == "next" {
			now, err := time.Parse(time.RFC3339, args["now"])
			if err != nil {
				t.Fatal(err)
			}
			return schedule.Next(now).Format(time.RFC3339) + "\n"
		}
		start, end := mustTime(t, args["from"]), mustTime(t, args["to"])
		if d.Cmd == "missed" {
			latest, n := missed(schedule, start, end)
			return fmt.Sprintf("%d, the latest at %s\n", n, latest.Format(time.RFC3339))
		}
		zone, err := time.LoadLocation(args["zone"])
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for at := schedule.Next(start); !at.IsZero() && !at.After(end); at = schedule.Next(at) {
			fmt.Fprintln(&out, at.In(zone).Format("02 15:04 MST"))
		}
		return out.String()
	})
}

func mustTime(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
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
