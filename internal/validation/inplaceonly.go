// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/inplace"
)

// InPlaceOnly refuses what a running pod cannot take: of the pod's spec only
// what the options say may change, of its metadata everything. The
// template is at path; policy names the field that asks for InPlaceOnly, for
// the errors.
func InPlaceOnly(template, old *corev1.PodTemplateSpec, policy string, path *field.Path, o inplace.CalculateOptions) field.ErrorList {
	verdict, err := inplace.Compare(old, template, o)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	var errs field.ErrorList
	for _, o := range verdict.Obstacles {
		errs = append(errs, field.Forbidden(below(path, o.Path),
			o.Reason+": "+policy+" is InPlaceOnly; with InPlaceIfPossible the pods would be recreated"))
	}
	return errs
}

// below turns a JSON pointer below path into a field path.
func below(path *field.Path, pointer string) *field.Path {
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		part = unescape.Replace(part)
		if index, err := strconv.Atoi(part); err == nil {
			path = path.Index(index)
		} else if strings.ContainsAny(part, "./") {
			path = path.Key(part)
		} else {
			path = path.Child(part)
		}
	}
	return path
}
