// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"fmt"
	"strings"
	"testing"
)

const imageCronJob = `
apiVersion: apps.kruise.io/v1alpha1
kind: AdvancedCronJob
metadata: {name: base, uid: base}
spec:
  schedule: "@daily"
  template:
    imageListPullJobTemplate:
      metadata: {labels: {a: b}, annotations: {c: d}}
      spec: {images: ["base:1", "tools:2"], parallelism: 2, podSelector: {matchLabels: {app: web}}, pullPolicy: {timeoutSeconds: 60, backoffLimit: 1}, completionPolicy: {type: Always}}`

// (KC-31)
func TestCreateImageListPullJob(t *testing.T) {
	const created = "imagelistpulljob.apps.kruise.io/now created\n"
	for _, test := range []struct{ args, want, spec string }{
		{"--image=web:2", created, "map[completionPolicy:map[type:Always] images:[web:2]]"},
		{"--image=web:2,proxy:7 --image=log:1", created, "map[completionPolicy:map[type:Always] images:[web:2 proxy:7 log:1]]"},
		{"--image=web:2 --parallelism=5 --pullSecrets=registry,other --imagePullPolicy=Always --timeoutSeconds=30 --backoffLimit=0 --activeDeadlineSeconds=900 --ttlSecondsAfterFinished=0", created,
			"map[completionPolicy:map[activeDeadlineSeconds:900 ttlSecondsAfterFinished:0 type:Always] imagePullPolicy:Always images:[web:2] parallelism:5 " +
				"pullPolicy:map[backoffLimit:0 timeoutSeconds:30] pullSecrets:[registry other]]"},
		{"--image=web:2 --parallelism=10% --nodes=n1,n2", created, "map[completionPolicy:map[type:Always] images:[web:2] parallelism:10% selector:map[names:[n1 n2]]]"},
		{"--image=web:2 -l zone=a,disk!=slow", created,
			"map[completionPolicy:map[type:Always] images:[web:2] selector:map[matchExpressions:[map[key:disk operator:NotIn values:[slow]]] matchLabels:map[zone:a]]]"},
		{"--image=web:2 --podSelector=tier,size>3", "error: --podSelector: a label selector of a spec has no operator \"gt\"\nexit code 1\n", ""},
		{"--image=web:2 --podSelector=tier,!old", created,
			"map[completionPolicy:map[type:Always] images:[web:2] podSelector:map[matchExpressions:[map[key:old operator:DoesNotExist] map[key:tier operator:Exists]]]]"},
		{"--image=web:2 --podSelector=app=web", created, "map[completionPolicy:map[type:Always] images:[web:2] podSelector:map[matchLabels:map[app:web]]]"},
		{"--from=acj/base", created,
			"map[completionPolicy:map[type:Always] images:[base:1 tools:2] parallelism:2 podSelector:map[matchLabels:map[app:web]] pullPolicy:map[backoffLimit:1 timeoutSeconds:60]]"},
		{"--from=acj/base --ttlSecondsAfterFinished=600 --timeoutSeconds=90 --nodes=n1 --parallelism=9", created,
			"map[completionPolicy:map[ttlSecondsAfterFinished:600 type:Always] images:[base:1 tools:2] parallelism:9 pullPolicy:map[backoffLimit:1 timeoutSeconds:90] selector:map[names:[n1]]]"},
		{"--image=web:2 --dry-run=client", "imagelistpulljob.apps.kruise.io/now created (dry run)\n", ""},
		{"", "error: either --image or --from must be specified\nexit code 1\n", ""},
		{"--image=web:2 --from=acj/base", "error: either --image or --from must be specified\nexit code 1\n", ""},
		{"--image=web:2 --nodes=n1 --podSelector=app=web", "error: only one of --nodes, --selector and --podSelector can be specified\nexit code 1\n", ""},
		{"--image=web:2 --selector=a=b=c", "error: --selector: found '=', expected: ',' or 'end of string'\nexit code 1\n", ""},
		{"--from=acj/ghost", "Error from server (NotFound): advancedcronjobs.apps.kruise.io \"ghost\" not found\nexit code 1\n", ""},
	} {
		t.Run(test.args, func(t *testing.T) {
			c := newCluster(t)
			c.create(imageCronJob)
			c.expect(test.want, append([]string{"create", "imageListPullJob", "now"}, strings.Fields(test.args)...)...)
			if test.spec == "" {
				return
			}
			if got := fmt.Sprint(c.field("imagelistpulljobs.apps.kruise.io/now", "spec")); got != test.spec {
				t.Errorf("the spec is\n%s\nwant\n%s", got, test.spec)
			}
		})
	}
}

// What is made from a cron job goes with it, and is none of its scheduled jobs. The wrong command names the right one. (KC-31)
func TestCreateImageListPullJobFromACronJob(t *testing.T) {
	c := newCluster(t)
	c.create(imageCronJob)
	c.run("create", "imagelistpulljob", "now", "--from=acj/base")
	const job = "imagelistpulljobs.apps.kruise.io/now"
	if got := fmt.Sprint(c.field(job, "metadata", "labels"), c.field(job, "metadata", "annotations")); got != "map[a:b] map[c:d cronjob.kubernetes.io/instantiate:manual]" {
		t.Errorf("the metadata are %s", got)
	}
	owners := c.field(job, "metadata", "ownerReferences").([]any)
	if owner := owners[0].(map[string]any); len(owners) != 1 || owner["kind"] != "AdvancedCronJob" || owner["name"] != "base" || owner["controller"] != nil {
		t.Errorf("the owners are %v", owners)
	}
	for _, wrong := range [][2]string{{"job", "jobTemplate"}, {"broadcastJob", "broadcastJobTemplate"}} {
		c.expect(fmt.Sprintf("error: AdvancedCronJob base has no spec.template.%s, only imageListPullJobTemplate: use \"kubectl podwright create imageListPullJob NAME --from=acj/base\"\nexit code 1\n",
			wrong[1]), "create", wrong[0], "other", "--from=acj/base")
	}
	if got := c.run("create", "imageListPullJob", "then", "--from=acj/base", "--dry-run=client", "-o", "jsonpath={.kind} {.spec.images}"); got != `ImageListPullJob ["base:1","tools:2"]` {
		t.Errorf("a dry run gives %s", got)
	}
}
