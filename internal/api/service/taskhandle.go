package service

import (
	"encoding/base64"
	"encoding/json"
)

// taskHandle is the content of a message move task's handle, as base64 of its JSON.
type taskHandle struct {
	TaskID    string `json:"taskId"`
	SourceARN string `json:"sourceArn"`
}

// TaskHandle returns the handle of a task that moves messages out of the queue with that ARN.
func TaskHandle(task, source string) string {
	text, err := json.Marshal(taskHandle{task, source})
	if err != nil {
		panic(err) // two strings
	}
	return base64.StdEncoding.EncodeToString(text)
}

// ParseTaskHandle returns the task and the ARN of the queue in a handle.
func ParseTaskHandle(handle string) (task, source string, ok bool) {
	var h taskHandle
	b, err := base64.StdEncoding.DecodeString(handle)
	if err != nil || json.Unmarshal(b, &h) != nil {
		return "", "", false
	}
	return h.TaskID, h.SourceARN, h.TaskID != ""
}
