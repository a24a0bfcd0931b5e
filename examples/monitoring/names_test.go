// SPDX-License-Identifier: Apache-2.0

package monitoring

// metrics are names of metrics and their labels.
type metrics map[string][]string
