// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/cronjob"
)

// delays are ScheduleMetrics that remember how late jobs were.
type delays struct {
	lock sync.Mutex
	all  []time.Duration
}

func (d *delays) Started(late time.Duration) {
	d.lock.Lock()
	defer d.lock.Unlock()
	d.all = append(d.all, late)
}

func (d *delays) Missed(int) {}

// TestRush has 1,000 cron jobs fire at the same minute, at an API server that takes 8 ms for a write. It checks that 99 of 100
// jobs are there within a second. (ACJ-10.1)
func TestRush(t *testing.T) {
	const cronJobs, write = 1000, 8 * time.Millisecond
	var c *fixture.Cluster
	fixture.Play(t, cronJobResource, func(f *fixture.Cluster) { c = f }, func(t *testing.T) {
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && !slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
				time.Sleep(write)
			}
			return nil
		})
		client := newClient(t, c.Server, fixture.TestUser).AdvancedCronJobs(fixture.Web.Namespace)
		for i := range cronJobs {
			_, err := client.Create(t.Context(), newCronJob(t, fmt.Sprintf("web-%d", i), "schedule: '@hourly'"), metav1.CreateOptions{})
			c.Must(err)
		}
		late := &delays{}
		controller, err := cronjob.New(cronjob.Options{
			Kubernetes: c.Client(fixture.ControllerUser), Workloads: newClient(t, c.Server, fixture.ControllerUser), ScheduleMetrics: late,
		})
		c.Must(err)
		defer c.Start(controller.Run)()
		c.Sleep("61m")
		if len(late.all) != cronJobs {
			t.Fatalf("%d jobs were created, want %d", len(late.all), cronJobs)
		}
		slices.Sort(late.all)
		p99 := late.all[cronJobs*99/100]
		t.Logf("p50 %v, p99 %v, the last %v", late.all[cronJobs/2], p99, late.all[cronJobs-1])
		if p99 >= time.Second {
			t.Errorf("ACJ-10.1: the 99th of 100 jobs is %v late, want less than a second", p99)
		}
	}, jobResource, broadcastJobResource)
}
