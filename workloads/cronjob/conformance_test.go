// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	distributionclient "github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/client/fake"
	"github.com/podwright/podwright/workloads/cronjob"
)

var tested = fixture.Package[cronjob.Options, cronjob.Snapshot, cronjob.Plan]{New: cronjob.New, NewReconciler: cronjob.NewReconciler,
	Acts: func(p *cronjob.Plan) bool { return p.Start != nil || p.Status != nil || len(p.Clean) > 0 }}

// TestConformance has two jobs run, one after the other, none of which is kept.
func TestConformance(t *testing.T) {
	for resource, template := range map[string]string{"jobs": jobTemplate, "broadcastjobs": broadcastTemplate, "imagelistpulljobs": imageTemplate} {
		t.Run(resource, func(t *testing.T) {
			conformance.Test(t, conformance.Subject{
				Resource: cronJobResource, More: []fakecluster.Resource{jobResource, broadcastJobResource, imageListResource},
				Watches:   []string{"advancedcronjobs", resource},
				MoreTries: 60,
				Writes:    []string{"create " + resource, "patch advancedcronjobs", "patch advancedcronjobs/status", "delete " + resource},
				Unasked:   map[string]string{"*": "each scenario has one kind of template, and the rules are for all"},
				New: func(c *conformance.Cluster) (conformance.Controller, error) {
					distribution := newDistribution(c.T, c.Server, fixture.ControllerUser)
					kube, workloads := c.Client(fixture.ControllerUser), newClient(c.T, c.Server, fixture.ControllerUser)
					o := cronjob.Options{Kubernetes: kube, Workloads: workloads, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles}, Recorder: &c.Events,
						Distribution:      distribution,
						ImageListPullJobs: c.Share(distributionclient.NewImageListPullJobInformer(distribution, "", 0, cache.Indexers{})),
						CronJobs:          c.Share(client.NewAdvancedCronJobInformer(workloads, "", 0, cache.Indexers{})),
						BroadcastJobs:     c.Share(client.NewBroadcastJobInformer(workloads, "", 0, cache.Indexers{})),
						Jobs:              c.Share(caches.NewInformers(kube, "").Jobs())}
					return conformance.Made(tested, o, cronjob.Rules(o))
				},
				Create: func(c *conformance.Cluster, name string) {
					cronJob := newCronJob(c.T, name, "schedule: "+soon(c), "successfulJobsHistoryLimit: 0", template)
					_, err := newClient(c.T, c.Server, fixture.TestUser).AdvancedCronJobs(fixture.Web.Namespace).Create(c.T.Context(), cronJob, metav1.CreateOptions{})
					c.Must(err)
				},
				Change: func(c *conformance.Cluster, name string) {
					c.EditNamed(name, `{"spec":{"schedule":"`+soon(c)+`"}}`)
				},
				Step: func(c *conformance.Cluster) {
					for _, j := range jobsOf(c.Cluster) {
						if !j.finished && !strings.Contains(j.GetName(), "strange") {
							finish(c.Cluster, j, "Complete")
						}
					}
				},
				Outcome: func(c *conformance.Cluster, name string) string {
					cronJob, err := newClient(c.T, c.Server, fixture.TestUser).AdvancedCronJobs(fixture.Web.Namespace).Get(c.T.Context(), name, metav1.GetOptions{})
					c.Must(err)
					jobs := slices.DeleteFunc(jobsOf(c.Cluster), func(j job) bool { return !strings.HasPrefix(j.GetName(), name+"-") })
					return fmt.Sprint(len(jobs), " jobs, ", len(cronJob.Status.Active), " active, there was one: ", cronJob.Status.LastScheduleTime != nil)
				},
				Noise: func(c *conformance.Cluster, i int) {
					for _, j := range jobsOf(c.Cluster) {
						c.Object("patch", j.path()+"/status", fmt.Sprintf(`{"status":{"active":%d}}`, i))
					}
				},
			})
		})
	}
}

// soon waits until two seconds before a full minute, and returns the schedule of that
// minute, which comes once a year.
func soon(c *conformance.Cluster) string {
	now := time.Now()
	at := now.Truncate(time.Minute).Add(time.Minute)
	if at.Sub(now) < 2*time.Second {
		at = at.Add(time.Minute)
	}
	c.Sleep((at.Sub(now) - 2*time.Second).String())
	return at.Format("4 15 2 1 *")
}

func TestOptions(t *testing.T) {
	conformance.CheckOptions(t, conformance.Options[cronjob.Options]{
		Good:          cronjob.Options{Kubernetes: kubernetes.NewForConfigOrDie(&rest.Config{}), Workloads: fake.NewClient()},
		Required:      "Kubernetes Workloads",
		New:           func(o cronjob.Options) error { _, err := cronjob.New(o); return err },
		NewReconciler: func(o cronjob.Options) error { _, err := cronjob.NewReconciler(o); return err }})
}
