// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
)

const twoContainers = `{apiVersion: v1, kind: Pod, metadata: {name: web-a}, spec: {containers: [{name: main, image: x}, {name: log, image: "log:1"}]}}`

// (KC-15)
func TestCreateRecreateRequest(t *testing.T) {
	for _, test := range []struct{ args, want, spec string }{
		{"--pod=web-a", "containerrecreaterequest.apps.kruise.io/again created\n",
			"map[activeDeadlineSeconds:300 containers:[map[name:main] map[name:log]] podName:web-a strategy:map[failurePolicy:Fail orderedRecreate:false unreadyGracePeriodSeconds:3] ttlSecondsAfterFinished:1800]"},
		{"-p web-a --containers=log -u 10 -m 5 --terminationGracePeriodSeconds=0", "containerrecreaterequest.apps.kruise.io/again created\n",
			"map[activeDeadlineSeconds:300 containers:[map[name:log]] podName:web-a strategy:map[failurePolicy:Fail minStartedSeconds:5 orderedRecreate:false terminationGracePeriodSeconds:0 unreadyGracePeriodSeconds:10] ttlSecondsAfterFinished:1800]"},
		{"--pod=web-a --containers=lag", "error: pod web-a has no container \"lag\", only [\"main\" \"log\"]\nexit code 1\n", ""},
		{"--pod=ghost", "Error from server (NotFound): pods \"ghost\" not found\nexit code 1\n", ""},
		{"", "error: --pod is required\nSee 'kubectl podwright create ContainerRecreateRequest -h' for help and examples\nexit code 1\n", ""},
		{"--pod=web-a --dry-run=client", "containerrecreaterequest.apps.kruise.io/again created (dry run)\n", ""},
	} {
		t.Run(test.args, func(t *testing.T) {
			c := newCluster(t)
			c.create(twoContainers)
			c.expect(test.want, append([]string{"create", "ContainerRecreateRequest", "again"}, strings.Fields(test.args)...)...)
			if test.spec == "" {
				return
			}
			if got := fmt.Sprint(c.field("containerrecreaterequests.apps.kruise.io/again", "spec")); got != test.spec {
				t.Errorf("the spec is\n%s\nwant\n%s", got, test.spec)
			}
		})
	}
}

const advancedCronJob = `
apiVersion: apps.kruise.io/v1alpha1
kind: AdvancedCronJob
metadata: {name: nightly}
spec:
  schedule: "@daily"
  template:
    %s: {metadata: {labels: {a: b}}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "job:1"}]}}}}`

// (KC-16)
func TestCreateJobs(t *testing.T) {
	c := newCluster(t)
	c.create(fmt.Sprintf(advancedCronJob, "broadcastJobTemplate"))
	c.expect("broadcastjob.apps.kruise.io/now created\n", "create", "broadcastJob", "now", "--from=acj/nightly")
	if got := fmt.Sprint(c.field("broadcastjobs.apps.kruise.io/now", "spec")); got != "map[template:map[spec:map[containers:[map[image:job:1 name:main]] restartPolicy:Never]]]" {
		t.Errorf("the spec is %s", got)
	}
	owners := c.field("broadcastjobs.apps.kruise.io/now", "metadata", "ownerReferences").([]any)
	if owner := owners[0].(map[string]any); owner["kind"] != "AdvancedCronJob" || owner["controller"] != nil {
		t.Errorf("the owner is %v", owner)
	}
	c.expect("broadcastjob.apps.kruise.io/all created\n", "create", "bcj", "all", "--image=busybox", "--", "rm", "-rf", "/cache")
	if got := fmt.Sprint(c.field("broadcastjobs.apps.kruise.io/all", "spec")); got != "map[template:map[spec:map[containers:[map[command:[rm -rf /cache] image:busybox name:all]] restartPolicy:Never]]]" {
		t.Errorf("the spec is %s", got)
	}
	c.expect("error: AdvancedCronJob nightly has no spec.template.jobTemplate, only broadcastJobTemplate: use \"kubectl podwright create broadcastJob NAME --from=acj/nightly\"\nexit code 1\n",
		"create", "job", "now", "--from=acj/nightly")
	c.expect("error: either --image or --from must be specified\nexit code 1\n", "create", "broadcastJob", "none")
	c.create(cloneset("", ""))
	c.expect("error: --from must be an AdvancedCronJob, as acj/NAME, and cloneset/web is a CloneSet\nexit code 1\n", "create", "broadcastJob", "none", "--from=cloneset/web")

	c = newCluster(t)
	c.create(fmt.Sprintf(advancedCronJob, "jobTemplate"))
	c.expect("job.batch/now created\n", "create", "job", "now", "--from=acj/nightly")
	if got := fmt.Sprint(c.field("jobs/now", "metadata", "labels"), c.field("jobs/now", "metadata", "annotations")); got != "map[a:b] map[cronjob.kubernetes.io/instantiate:manual]" {
		t.Errorf("the metadata are %s", got)
	}
	if got := c.run("create", "job", "then", "--from=acj/nightly", "--dry-run=client", "-o", "jsonpath={.spec.template.spec.containers[0].image}"); got != "job:1" {
		t.Errorf("a dry run gives %s", got)
	}
	c.expect("job.batch/plain created\n", "create", "job", "plain", "--image=busybox")
}

// (KC-17)
func TestWorkingSidecar(t *testing.T) {
	const hot = `{apiVersion: v1, kind: Pod, metadata: {name: web-a, labels: {app: web}, annotations: {kruise.io/sidecarset-working-hotupgrade-container: '{"envoy":"envoy-2"}'}},
		spec: {containers: [{name: main, image: x}]}, status: {phase: Running}}`
	for _, test := range []struct{ from, sidecar, want string }{
		{"web-a", "envoy", "envoy-2 of web-a: <nil>"},
		{"cloneset/web", "envoy", "envoy-2 of web-a: <nil>"},
		{"web-a", "other", " of web-a: pod web-a has no sidecar \"other\" with hot upgrades: its annotation " +
			"kruise.io/sidecarset-working-hotupgrade-container is \"{\\\"envoy\\\":\\\"envoy-2\\\"}\""},
		{"ghost", "envoy", " of ghost: pods \"ghost\" not found"},
	} {
		t.Run(test.from+" "+test.sidecar, func(t *testing.T) {
			c := newCluster(t)
			c.create(hot)
			c.create(cloneset("", ""))
			commands := &commands{name: "kubectl podwright", factory: workload.NewFactory(c.flags)}
			args := []string{test.from}
			container, err := commands.useWorking(commands.exec(), args, test.sidecar)
			if got := fmt.Sprintf("%s of %s: %v", container, args[0], err); got != test.want {
				t.Errorf("the container is %s\nwant %s", got, test.want)
			}
		})
	}
	c := newCluster(t)
	if got := c.run("exec", "web-a", "-S", "envoy", "-c", "main", "--", "date"); !strings.Contains(got, "takes the place of --container") {
		t.Errorf("two containers give\n%s", got)
	}
}
