// SPDX-License-Identifier: Apache-2.0

package statefulset_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

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

// newClasses reads the classes of a script.
func newClasses(words []string) *classes {
	c := &classes{}
	for _, word := range words {
		name, rest, _ := strings.Cut(word, ":")
		grows, age, isDefault := strings.Cut(rest, ":")
		if name == "unreadable" {
			c.err = apierrors.NewForbidden(storagev1.Resource("storageclasses"), "", nil)
		}
		class := storagev1.StorageClass{AllowVolumeExpansion: map[string]*bool{"grows": new(true), "rigid": new(false)}[grows]}
		class.Name = name
		if days, err := strconv.Atoi(age); isDefault && err == nil {
			class.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
			class.CreationTimestamp = metav1.Unix(-int64(days)*24*60*60, 0)
		}
		c.items = append(c.items, class)
	}
	return c
}

// shortClaims writes claim templates out: "grow" or "OnDelete", or "no-strategy", and of each template its name and size. The rest of the words are
// fast, slow or no-class, once, many or reversed for access modes, and a limit.
func shortClaims(text string) string {
	strategy, list, short := strings.Cut(strings.TrimSuffix(text, "]"), " [")
	if !short || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "raw") {
		return text
	}
	words := map[string]string{"fast": `"storageClassName":"fast"`, "slow": `"storageClassName":"slow"`, "no-class": `"storageClassName":""`,
		"once": `"accessModes":["ReadWriteOnce"]`, "many": `"accessModes":["ReadWriteOnce","ReadOnlyMany"]`,
		"reversed": `"accessModes":["ReadOnlyMany","ReadWriteOnce"]`}
	var templates []string
	for template := range strings.SplitSeq(list, ", ") {
		parts, limit := strings.Fields(template), ""
		fields := []string{`"volumeMode":"Filesystem"`}
		for _, word := range parts[2:] {
			if size, is := strings.CutPrefix(word, "limit="); is {
				limit = `"limits":{"storage":"` + size + `"},`
				continue
			}
			fields = append(fields, words[word])
		}
		fields = append(fields, `"resources":{`+limit+`"requests":{"storage":"`+parts[1]+`"}}`)
		const form = `{"metadata":{"name":"%s"},"spec":{%s},"status":{"phase":"Pending"}}`
		templates = append(templates, fmt.Sprintf(form, parts[0], strings.Join(fields, ",")))
	}
	if how := map[string]string{"grow": "OnPodRollingUpdate", "OnDelete": "OnDelete"}[strategy]; how != "" {
		strategy = `,"volumeClaimUpdateStrategy":{"type":"` + how + `"}`
	} else {
		strategy = ""
	}
	return `{"volumeClaimTemplates":[` + strings.Join(templates, ",") + `]` + strategy + `}`
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
