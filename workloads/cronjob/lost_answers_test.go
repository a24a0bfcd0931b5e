// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// A write is made, its answer is lost, and what was written is gone or not shown for a while. No time is run twice.
func TestLostAnswers(t *testing.T) {
	for _, test := range []struct {
		name, lost, held string
		gone             bool // the job is deleted before the cache shows it
	}{
		{"ACJ-13.2: the job is gone", "create jobs", "jobs", true},
		{"ACJ-13.2: the job is there", "create jobs", "jobs", false},
		{"ACJ-13.2: the claim, and the job is gone", "patch advancedcronjobs/status", "advancedcronjobs", true},
		{"ACJ-13.2: the claim", "patch advancedcronjobs/status", "advancedcronjobs", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			play(t, func(t *testing.T, w *world) {
				cronJobs := newClient(t, w.Server, fixture.TestUser).AdvancedCronJobs(fixture.Web.Namespace)
				_, err := cronJobs.Create(t.Context(), newCronJob(t, "web", "schedule: 5 0 * * *"), metav1.CreateOptions{})
				w.Must(err)
				w.Sleep("4m")
				lose := fixture.Fail(test.lost, fixture.ErrLost)
				w.FailAfter(func(r request) error { _ = w.made(r); return lose(r) })
				w.Hold(test.held)
				w.Sleep("1m")
				w.heal()
				if test.gone {
					w.Must(w.delete(false))
				}
				w.Sleep("1m")
				w.Release(test.held)
				w.Sleep("2m")
				if test.gone {
					w.Must(w.delete(false))
				}
				w.Sleep("10m")
				if n := len(slices.DeleteFunc(slices.Clone(w.trace), func(line string) bool { return !strings.Contains(line, " create jobs ") })); n != 1 {
					t.Errorf("%d jobs were created:\n%s", n, strings.Join(w.trace, "\n"))
				}
			})
		})
	}
}
