// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var (
	cronJobResource      = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("AdvancedCronJob"), "advancedcronjobs")
	broadcastJobResource = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("BroadcastJob"), "broadcastjobs")
	imageListResource    = fakecluster.CustomResource(distributionv1alpha1.SchemeGroupVersion.WithKind("ImageListPullJob"), "imagelistpulljobs")
	jobResource          = fakecluster.Resource{GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("Job"), Name: "jobs", Status: true, Generation: true,
		Type: func() any { return &batchv1.Job{} }}
)

const (
	podTemplate       = "template: {metadata: {labels: {app: backup}}, spec: {restartPolicy: Never, containers: [{name: main, image: backup}]}}"
	jobTemplate       = "template: {jobTemplate: {metadata: {labels: {team: blue}}, spec: {" + podTemplate + "}}}"
	imageTemplate     = "template: {imageListPullJobTemplate: {metadata: {labels: {team: blue}}, spec: {images: [base, tools], completionPolicy: {}}}}"
	broadcastTemplate = "template: {broadcastJobTemplate: {metadata: {labels: {team: blue}}, spec: {" + podTemplate + "}}}"
)

// newCronJob is a cron job with the lines in its spec, of Jobs if they hold no template.
func newCronJob(t *testing.T, name string, lines ...string) *v1alpha1.AdvancedCronJob {
	t.Helper()
	spec := strings.Join(lines, "\n")
	if !strings.Contains(spec, "template:") {
		spec += "\n" + jobTemplate
	}
	cronJob := &v1alpha1.AdvancedCronJob{ObjectMeta: metav1.ObjectMeta{Namespace: fixture.Web.Namespace, Name: name, UID: "uid", Generation: 1}}
	if err := yaml.UnmarshalStrict([]byte(spec), &cronJob.Spec); err != nil {
		t.Fatal(err)
	}
	return cronJob
}

// parseTime reads a time of day on the 5th of September 2022, or a whole time.
func parseTime(t *testing.T, text string) time.Time {
	t.Helper()
	if len(text) <= len("10:00:00") {
		text = "2022-09-05T" + text + ":00"[:3*(2-strings.Count(text, ":"))] + "Z"
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// newClient returns a client of the workload kinds.
func newClient(t *testing.T, server *fakecluster.Server, user string) client.Interface {
	return fixture.Connect(t, server, user, client.NewForConfig)
}

// newDistribution returns a client of the kinds about images.
func newDistribution(t *testing.T, server *fakecluster.Server, user string) distributionclient.Interface {
	return fixture.Connect(t, server, user, distributionclient.NewForConfig)
}

// job is one that a cron job has.
type job struct {
	metav1.Object
	apiVersion, kind string
	finished         bool
}

// path is that of a job, for fixture.Cluster.Object.
func (j *job) path() string { return j.apiVersion + "/" + j.kind + "/" + j.GetName() }

// jobsOf lists the jobs of all kinds in the cluster, by name.
func jobsOf(c *fixture.Cluster) (all []job) {
	jobs, err := c.Kube.BatchV1().Jobs(fixture.Web.Namespace).List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	for i := range jobs.Items {
		all = append(all, job{&jobs.Items[i], "batch/v1", "jobs", len(jobs.Items[i].Status.Conditions) > 0})
	}
	broadcast, err := newClient(c.T, c.Server, fixture.TestUser).BroadcastJobs(fixture.Web.Namespace).List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	for i := range broadcast.Items {
		all = append(all, job{&broadcast.Items[i], "apps.kruise.io/v1alpha1", "broadcastjobs", len(broadcast.Items[i].Status.Conditions) > 0})
	}
	images, err := newDistribution(c.T, c.Server, fixture.TestUser).ImageListPullJobs(fixture.Web.Namespace).List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	for i := range images.Items {
		all = append(all, job{&images.Items[i], "apps.kruise.io/v1alpha1", "imagelistpulljobs", images.Items[i].Status.CompletionTime != nil})
	}
	return all
}

// finish ends a job, as its controller does.
func finish(c *fixture.Cluster, j job, condition string) {
	c.T.Helper()
	status := fmt.Sprintf(`{"status":{"conditions":[{"type":%q,"status":"True"}]}}`, condition)
	if j.kind == "imagelistpulljobs" {
		now, succeeded := time.Now().UTC().Format(time.RFC3339), map[string]int{"Complete": 2, "Failed": 1}[condition]
		status = fmt.Sprintf(`{"status":{"completionTime":%q,"desired":2,"completed":2,"succeeded":%d}}`, now, succeeded)
	}
	c.Object("patch", j.path()+"/status", status)
}
