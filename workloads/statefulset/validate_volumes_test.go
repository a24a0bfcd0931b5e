// SPDX-License-Identifier: Apache-2.0

package statefulset_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/statefulset"
)

// classes are the storage classes of a cluster, or the error that reading them gives.
type classes struct {
	items []storagev1.StorageClass
	err   error
	asked []string
}

func (c *classes) Get(_ context.Context, name string, _ metav1.GetOptions) (*storagev1.StorageClass, error) {
	c.asked = append(c.asked, name)
	for i := range c.items {
		if c.items[i].Name == name && c.err == nil {
			return &c.items[i], nil
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	return nil, apierrors.NewNotFound(storagev1.Resource("storageclasses"), name)
}

func (c *classes) List(context.Context, metav1.ListOptions) (*storagev1.StorageClassList, error) {
	c.asked = append(c.asked, "all")
	if c.err != nil {
		return nil, c.err
	}
	return &storagev1.StorageClassList{Items: c.items}, nil
}

// storageClass says whether its volumes may grow; nil leaves that out. It is a default class if it has an age, in days.
func storageClass(name string, growing *bool, age int) storagev1.StorageClass {
	class := storagev1.StorageClass{AllowVolumeExpansion: growing}
	class.Name = name
	if age > 0 {
		class.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
		class.CreationTimestamp = metav1.Unix(-int64(age)*24*60*60, 0)
	}
	return class
}

// claimTemplate is the JSON of a claim template; fields are those of its spec.
func claimTemplate(name, size string, fields ...string) string {
	fields = append(fields, `"volumeMode":"Filesystem"`, `"resources":{"requests":{"storage":"`+size+`"}}`)
	return fmt.Sprintf(`{"metadata":{"name":"%s"},"spec":{%s},"status":{"phase":"Pending"}}`, name, strings.Join(fields, ","))
}

// STS-V9: what changes of claim templates are refused.
func TestValidateResize(t *testing.T) {
	const growing, fast, slow, once, many = "OnPodRollingUpdate", `"storageClassName":"fast"`, `"storageClassName":"slow"`,
		`"accessModes":["ReadWriteOnce"]`, `"accessModes":["ReadWriteOnce","ReadOnlyMany"]`
	const templates, while = "spec.volumeClaimTemplates", " while volumeClaimUpdateStrategy.type is OnPodRollingUpdate"
	data := claimTemplate("data", "1Gi", fast, once)
	reversed := `"accessModes":["ReadOnlyMany","ReadWriteOnce"]`
	limited := strings.Replace(data, `"requests"`, `"limits":{"storage":"3Gi"},"requests"`, 1)
	const stuck = "must stay 1Gi or less: storage class fast does not let volumes grow. Set allowVolumeExpansion there, or volumeClaimUpdateStrategy.type to OnDelete"
	for _, tt := range []struct {
		name, strategy string
		off            bool
		fast           storagev1.StorageClass
		more           []storagev1.StorageClass
		err            error
		is, was        string
		want, warning  string
		asked          int
	}{
		{name: "nothing changes", is: data, was: data},
		{name: "a size, of a class that can grow", fast: storageClass("fast", new(true), 0), is: claimTemplate("data", "2Gi", fast, once), was: data, asked: 1},
		{name: "a size, of a class that does not say", fast: storageClass("fast", nil, 0), is: claimTemplate("data", "2Gi", fast, once), was: data, asked: 1},
		{name: "a size, of a class that cannot grow", fast: storageClass("fast", new(false), 0), is: claimTemplate("data", "2Gi", fast, once), was: data, asked: 1,
			want: templates + `[0].spec.resources.requests[storage]: Invalid value: "2Gi": ` + stuck},
		{name: "a limit, of a class that cannot grow", fast: storageClass("fast", new(false), 0), is: limited, was: data, asked: 1,
			want: templates + `[0].spec.resources.requests[storage]: Invalid value: "1Gi": ` + stuck},
		{name: "a smaller size", fast: storageClass("fast", new(false), 0), is: claimTemplate("data", "500Mi", fast, once), was: data,
			warning: templates + "[0].spec.resources.requests[storage]: claims that ask for more than 500Mi stay so, since storage does not shrink; claims of new pods ask for 500Mi"},
		{name: "of two templates the second", fast: storageClass("fast", new(false), 0), is: claimTemplate("log", "1Gi", slow) + "," + claimTemplate("data", "2Gi", fast, once),
			was: claimTemplate("log", "1Gi", slow) + "," + data, asked: 1, want: templates + `[1].spec.resources.requests[storage]: Invalid value: "2Gi": ` + stuck},
		{name: "only what changes is asked about", fast: storageClass("fast", new(false), 0), is: data + "," + claimTemplate("log", "1Gi", slow), was: data + "," + claimTemplate("log", "1Gi", slow)},
		{name: "an unknown class", fast: storageClass("other", nil, 0), is: claimTemplate("data", "2Gi", fast, once), was: data, asked: 1,
			want: templates + `[0].spec.storageClassName: Not found: "fast"`},
		{name: "a class that cannot be read", err: apierrors.NewForbidden(storagev1.Resource("storageclasses"), "fast", nil), is: claimTemplate("data", "2Gi", fast, once), was: data, asked: 1,
			warning: templates + "[0].spec: the storage class could not be asked whether volumes may grow: Forbidden"},
		{name: "the newest default class cannot grow", fast: storageClass("fast", new(false), 1), more: []storagev1.StorageClass{storageClass("old", new(true), 9), storageClass("none", new(true), 0)},
			is: claimTemplate("data", "2Gi", once), was: claimTemplate("data", "1Gi", once), asked: 1, want: templates + `[0].spec.resources.requests[storage]: Invalid value: "2Gi": ` + stuck},
		{name: "the newest default class can grow", fast: storageClass("fast", new(false), 9), more: []storagev1.StorageClass{storageClass("new", new(true), 1)},
			is: claimTemplate("data", "2Gi", once), was: claimTemplate("data", "1Gi", once), asked: 1},
		{name: "no default class", fast: storageClass("fast", new(false), 0), is: claimTemplate("data", "2Gi", once), was: claimTemplate("data", "1Gi", once), asked: 1},
		{name: "no class is asked for", fast: storageClass("fast", new(false), 1), is: claimTemplate("data", "2Gi", `"storageClassName":""`), was: claimTemplate("data", "1Gi", `"storageClassName":""`)},
		{name: "one more template", is: data + "," + claimTemplate("log", "1Gi"), was: data, want: templates + ": Invalid value: 2: must stay 1 claim templates" + while +
			": pods that run cannot get or lose a volume; " + templates + `[1].metadata.name: Invalid value: "log": must be the name of a claim template that there was (data)` + while},
		{name: "one template less", is: data, was: data + "," + claimTemplate("log", "1Gi"), want: templates + ": Invalid value: 1: must stay 2 claim templates" + while + ": pods that run cannot get or lose a volume"},
		{name: "another name", is: claimTemplate("disk", "1Gi", fast, once), was: data, want: templates + `[0].metadata.name: Invalid value: "disk": must be the name of a claim template that there was (data)` + while},
		{name: "another name, and another class of the next", is: claimTemplate("disk", "1Gi") + "," + claimTemplate("data", "1Gi", slow, once), was: claimTemplate("log", "1Gi") + "," + data,
			want: templates + `[0].metadata.name: Invalid value: "disk": must be the name of a claim template that there was (log, data)` + while +
				"; " + templates + `[1].spec.storageClassName: Invalid value: "slow": must stay "fast"` + while + ": no claim can change its class"},
		{name: "another order", is: claimTemplate("log", "1Gi") + "," + data, was: data + "," + claimTemplate("log", "1Gi")},
		{name: "another class", is: claimTemplate("data", "1Gi", slow, once), was: data, want: templates + `[0].spec.storageClassName: Invalid value: "slow": must stay "fast"` + while + ": no claim can change its class"},
		{name: "a class more", is: data, was: claimTemplate("data", "1Gi", once)},
		{name: "a class less", is: claimTemplate("data", "1Gi", once), was: data},
		{name: "other access modes", is: claimTemplate("data", "1Gi", fast, many), was: data,
			want: templates + `[0].spec.accessModes: Invalid value: ["ReadWriteOnce","ReadOnlyMany"]: must stay [ReadWriteOnce]` + while + ": no claim can change its access modes"},
		{name: "access modes in another order", is: claimTemplate("data", "1Gi", fast, reversed), was: claimTemplate("data", "1Gi", fast, many),
			want: templates + `[0].spec.accessModes: Invalid value: ["ReadOnlyMany","ReadWriteOnce"]: must stay [ReadWriteOnce ReadOnlyMany]` + while + ": no claim can change its access modes"},
		{name: "refused for its class, and greater", fast: storageClass("slow", new(false), 0), is: claimTemplate("data", "2Gi", slow, once), was: data,
			want: templates + `[0].spec.storageClassName: Invalid value: "slow": must stay "fast"` + while + ": no claim can change its class"},
		{name: "refused for its class, and smaller", is: claimTemplate("data", "500Mi", slow, once), was: data,
			want: templates + `[0].spec.storageClassName: Invalid value: "slow": must stay "fast"` + while + ": no claim can change its class"},
		{name: "a greater size, with OnDelete", strategy: "OnDelete", fast: storageClass("fast", new(false), 0), is: claimTemplate("data", "2Gi", fast, once), was: data},
		{name: "a greater size, without a strategy", strategy: "-", fast: storageClass("fast", new(false), 0), is: claimTemplate("data", "2Gi", fast, once), was: data},
		{name: "a smaller size, without the switch", off: true, is: claimTemplate("data", "500Mi", fast, once), was: data},
		{name: "a limit that goes", fast: storageClass("fast", new(false), 0), is: data, was: limited},
		{name: "a size and less of a limit", fast: storageClass("fast", new(false), 0), was: strings.Replace(data, `"requests"`, `"limits":{"storage":"9Gi"},"requests"`, 1),
			is: strings.Replace(claimTemplate("data", "2Gi", fast, once), `"requests"`, `"limits":{"storage":"3Gi"},"requests"`, 1), asked: 1,
			want: templates + `[0].spec.resources.requests[storage]: Invalid value: "2Gi": ` + stuck},
		{name: "two that cannot grow", fast: storageClass("fast", new(false), 0), is: claimTemplate("data", "2Gi", fast, once) + "," + claimTemplate("log", "2Gi", fast), was: data + "," + claimTemplate("log", "1Gi", fast), asked: 2,
			want: templates + `[0].spec.resources.requests[storage]: Invalid value: "2Gi": ` + stuck + "; " + templates + `[1].spec.resources.requests[storage]: Invalid value: "2Gi": ` + stuck},
		{name: "of two templates the second is smaller", is: data + "," + claimTemplate("log", "500Mi", slow), was: data + "," + claimTemplate("log", "1Gi", slow),
			warning: templates + "[1].spec.resources.requests[storage]: claims that ask for more than 500Mi stay so, since storage does not shrink; claims of new pods ask for 500Mi"},
		{name: "one is smaller, and the other cannot grow", fast: storageClass("fast", new(false), 0), is: claimTemplate("log", "500Mi", slow) + "," + claimTemplate("data", "2Gi", fast, once),
			was: claimTemplate("log", "1Gi", slow) + "," + data, asked: 1, want: templates + `[1].spec.resources.requests[storage]: Invalid value: "2Gi": ` + stuck},
		{name: "of two default classes of an age the first by name", fast: storageClass("fast", new(false), 1), more: []storagev1.StorageClass{storageClass("gold", new(true), 1)},
			is: claimTemplate("data", "2Gi", once), was: claimTemplate("data", "1Gi", once), asked: 1, want: templates + `[0].spec.resources.requests[storage]: Invalid value: "2Gi": ` + stuck},
		{name: "default classes that cannot be listed", err: apierrors.NewForbidden(storagev1.Resource("storageclasses"), "", nil), is: claimTemplate("data", "2Gi", once), was: claimTemplate("data", "1Gi", once), asked: 1,
			warning: templates + "[0].spec: the storage class could not be asked whether volumes may grow: Forbidden"},
		{name: "a smaller template, with OnDelete", strategy: "OnDelete", is: claimTemplate("data", "512Mi", fast, once), was: data},
		{name: "with OnDelete", strategy: "OnDelete", is: claimTemplate("disk", "1Gi", slow), was: data},
		{name: "without a strategy", strategy: "-", is: claimTemplate("disk", "1Gi", slow), was: data},
		{name: "without the switch", off: true, fast: storageClass("fast", new(false), 0), is: claimTemplate("data", "2Gi", slow), was: data},
	} {
		t.Run("STS-V9: "+tt.name, func(t *testing.T) {
			object := func(templates, strategy string) string {
				fields := complete + completeRetention + `,"volumeClaimTemplates":[` + templates + `]`
				if strategy != "-" {
					fields += `,"volumeClaimUpdateStrategy":{"type":"` + strategy + `"}`
				}
				return specWith("v1beta1", fields)
			}
			if tt.strategy == "" {
				tt.strategy = growing
			}
			known := &classes{items: append(tt.more, tt.fast), err: tt.err}
			w := &statefulset.Webhook{Features: statefulset.Features{ResizeClaims: !tt.off}, StorageClasses: known}
			got := w.Validate(t.Context(), request("v1beta1", admissionv1.Update, object(tt.is, tt.strategy), object(tt.was, "OnDelete")))
			text := ""
			if !got.Allowed {
				var causes []string
				for _, cause := range got.Result.Details.Causes {
					causes = append(causes, cause.Field+": "+cause.Message)
				}
				text = strings.Join(causes, "; ")
			}
			if diff := cmp.Diff(tt.want, text); diff != "" || !got.Allowed && got.Result.Code != 422 {
				t.Errorf("refused with (-want +got), %v:\n%s", got.Result, diff)
			}
			if diff := cmp.Diff(tt.warning, strings.Join(got.Warnings, "; ")); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if len(known.asked) != tt.asked {
				t.Errorf("asked for the classes %v", known.asked)
			}
		})
	}
}

// STS-V9: without a client nothing is asked, and rights are those of what is asked.
func TestStorageClassesOfWebhook(t *testing.T) {
	on := statefulset.Features{ResizeClaims: true}
	for want, w := range map[int]*statefulset.Webhook{0: {Features: on}, 1: {Features: on, StorageClasses: &classes{}}} {
		if got := w.Rules(); len(got) != want {
			t.Errorf("rules %v", got)
		}
	}
	if got := (&statefulset.Webhook{StorageClasses: &classes{}}).Rules(); len(got) != 0 {
		t.Errorf("without the switch: rules %v", got)
	}
}

// STS-V9: a webhook that cannot ask about classes refuses nothing for them, and warns of smaller templates.
func TestResizeWithoutClasses(t *testing.T) {
	object := func(size string) string {
		return specWith("v1beta1", complete+completeRetention+`,"volumeClaimTemplates":[`+claimTemplate("data", size, `"storageClassName":"fast"`)+`],"volumeClaimUpdateStrategy":{"type":"OnPodRollingUpdate"}`)
	}
	w := &statefulset.Webhook{Features: statefulset.Features{ResizeClaims: true}}
	for size, warnings := range map[string]int{"1Gi": 0, "2Gi": 0, "500Mi": 1} {
		if got := w.Validate(t.Context(), request("v1beta1", admissionv1.Update, object(size), object("1Gi"))); !got.Allowed || len(got.Warnings) != warnings {
			t.Errorf("%s: allowed %v, warnings %v", size, got.Allowed, got.Warnings)
		}
	}
}

// STS-V9: a new StatefulSet has no claims that could grow, so nothing is asked.
func TestNewClaimTemplates(t *testing.T) {
	known := &classes{}
	w := &statefulset.Webhook{Features: statefulset.Features{ResizeClaims: true}, StorageClasses: known}
	fields := complete + completeRetention + `,"volumeClaimTemplates":[` + claimTemplate("data", "1Gi") + `],"volumeClaimUpdateStrategy":{"type":"OnPodRollingUpdate"}`
	if got := w.Validate(t.Context(), request("v1beta1", admissionv1.Create, specWith("v1beta1", fields), "")); !got.Allowed || len(got.Warnings)+len(known.asked) > 0 {
		t.Errorf("response %+v, asked for %v", got, known.asked)
	}
}
