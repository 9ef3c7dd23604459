//! What an application does with SQS, done with the AWS SDK for Rust against a running server.
//!
//! The server is found the way any AWS program finds it: AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
//! AWS_REGION.

use std::collections::HashMap;
use std::error::Error;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_sqs::error::ProvideErrorMetadata;
use aws_sdk_sqs::operation::get_queue_url::GetQueueUrlError;
use aws_sdk_sqs::primitives::Blob;
use aws_sdk_sqs::types::{
    DeleteMessageBatchRequestEntry, Message, MessageAttributeValue, MessageSystemAttributeName, QueueAttributeName,
    SendMessageBatchRequestEntry,
};
use aws_sdk_sqs::Client;

const BODY: &str = "naïve ☃ 𝄞 <&\"'>\r\nsecond line\rthird\tend \n";

type Done<T = ()> = Result<T, Box<dyn Error>>;

/// Queues of a run, which are deleted in the end.
struct Scenario {
    sqs: Client,
    queues: std::cell::RefCell<Vec<String>>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Done {
    let config = aws_config::load_from_env().await;
    let s = Scenario { sqs: Client::new(&config), queues: Default::default() };
    let mut failed = 0;
    for (step, result) in [
        ("queues", s.queues().await),
        ("send and receive", s.send_and_receive().await),
        ("batches", s.batches().await),
        ("visibility", s.visibility().await),
        ("dead letters", s.dead_letters().await),
        ("FIFO", s.fifo().await),
        ("long poll", s.long_poll().await),
        ("errors", s.errors().await),
    ] {
        match result {
            Ok(()) => println!("ok      {step}"),
            Err(problem) => {
                failed += 1;
                println!("FAILED  {step}: {problem:?}");
            }
        }
    }
    for url in s.queues.take() {
        s.sqs.delete_queue().queue_url(url).send().await?;
    }
    std::process::exit(if failed == 0 { 0 } else { 1 });
}

/// Says what is not as it should be.
fn equal<T: PartialEq + std::fmt::Debug>(want: T, got: T) -> Done {
    if want == got {
        return Ok(());
    }
    Err(format!("want {want:?}, got {got:?}").into())
}

fn value(kind: &str, text: &str) -> MessageAttributeValue {
    MessageAttributeValue::builder().data_type(kind).string_value(text).build().unwrap()
}

impl Scenario {
    fn name(&self, suffix: &str) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
        format!("rust-{now}-{}{suffix}", self.queues.borrow().len())
    }

    async fn create(&self, suffix: &str, attributes: &[(QueueAttributeName, &str)]) -> Done<String> {
        let attributes = attributes.iter().map(|(k, v)| (k.clone(), v.to_string())).collect();
        let made = self.sqs.create_queue().queue_name(self.name(suffix)).set_attributes(Some(attributes)).send().await?;
        let url = made.queue_url().ok_or("no URL")?.to_string();
        self.queues.borrow_mut().push(url.clone());
        Ok(url)
    }

    async fn attribute(&self, url: &str, name: QueueAttributeName) -> Done<String> {
        let got = self.sqs.get_queue_attributes().queue_url(url).attribute_names(QueueAttributeName::All).send().await?;
        Ok(got.attributes().and_then(|all| all.get(&name)).ok_or("no such attribute")?.clone())
    }

    async fn receive(&self, url: &str, wait: i32) -> Done<Vec<Message>> {
        let got = self
            .sqs
            .receive_message()
            .queue_url(url)
            .max_number_of_messages(10)
            .wait_time_seconds(wait)
            .message_system_attribute_names(MessageSystemAttributeName::All)
            .message_attribute_names("All")
            .send()
            .await?;
        Ok(got.messages.unwrap_or_default())
    }

    async fn one(&self, url: &str) -> Done<Message> {
        self.receive(url, 10).await?.into_iter().next().ok_or_else(|| "nothing was received".into())
    }

    async fn remove(&self, url: &str, m: &Message) -> Done {
        self.sqs.delete_message().queue_url(url).set_receipt_handle(m.receipt_handle.clone()).send().await?;
        Ok(())
    }

    async fn queues(&self) -> Done {
        let url = self.create("", &[(QueueAttributeName::DelaySeconds, "3")]).await?;
        let name = url.rsplit('/').next().unwrap();
        let found = self.sqs.get_queue_url().queue_name(name).send().await?;
        equal(Some(url.as_str()), found.queue_url())?;
        let changed = "45";
        self.sqs.set_queue_attributes().queue_url(&url).attributes(QueueAttributeName::VisibilityTimeout, changed).send().await?;
        equal(changed, &self.attribute(&url, QueueAttributeName::VisibilityTimeout).await?)?;
        self.sqs.tag_queue().queue_url(&url).tags("team", "måke").send().await?;
        let tags = self.sqs.list_queue_tags().queue_url(&url).send().await?;
        equal(Some(&HashMap::from([("team".to_string(), "måke".to_string())])), tags.tags())?;
        let mut pages = self.sqs.list_queues().queue_name_prefix(name).into_paginator().page_size(1).send();
        let mut listed = Vec::new();
        while let Some(page) = pages.next().await {
            listed.extend(page?.queue_urls.unwrap_or_default());
        }
        equal(vec![url], listed)
    }

    async fn send_and_receive(&self) -> Done {
        let url = self.create("", &[]).await?;
        let bytes = Blob::new([0u8, 1, 0x89, 254, 255]);
        let blob = MessageAttributeValue::builder().data_type("Binary.png").binary_value(bytes).build()?;
        let attributes = HashMap::from([
            ("colour".to_string(), value("String", "blå <&> \r\n")),
            ("count".to_string(), value("Number", "-12.50")),
            ("blob".to_string(), blob),
        ]);
        let sent = self.sqs.send_message().queue_url(&url).message_body(BODY).set_message_attributes(Some(attributes.clone())).send().await?;
        let m = self.one(&url).await?;
        equal(sent.message_id(), m.message_id())?;
        equal(Some(BODY), m.body())?;
        equal(sent.md5_of_message_attributes(), m.md5_of_message_attributes())?;
        equal(Some(&attributes), m.message_attributes())?;
        self.remove(&url, &m).await?;
        equal("0", &self.attribute(&url, QueueAttributeName::ApproximateNumberOfMessagesNotVisible).await?)
    }

    async fn batches(&self) -> Done {
        let url = self.create("", &[]).await?;
        let entry = |id: &str, body: &str| SendMessageBatchRequestEntry::builder().id(id).message_body(body).build();
        let sent = self.sqs.send_message_batch().queue_url(&url).entries(entry("good", BODY)?).entries(entry("bad", "\u{1}")?).send().await?;
        equal(vec!["good"], sent.successful().iter().map(|e| e.id()).collect())?;
        equal(vec!["InvalidMessageContents"], sent.failed().iter().map(|e| e.code()).collect())?;
        let m = self.one(&url).await?;
        let entry = |id: &str, handle: &str| DeleteMessageBatchRequestEntry::builder().id(id).receipt_handle(handle).build();
        let handle = m.receipt_handle().ok_or("no handle")?;
        let deleted = self.sqs.delete_message_batch().queue_url(&url).entries(entry("a", handle)?).entries(entry("b", "garbage")?).send().await?;
        equal(vec!["a"], deleted.successful().iter().map(|e| e.id()).collect())?;
        equal(vec!["ReceiptHandleIsInvalid"], deleted.failed().iter().map(|e| e.code()).collect())
    }

    async fn visibility(&self) -> Done {
        let url = self.create("", &[(QueueAttributeName::VisibilityTimeout, "600")]).await?;
        self.sqs.send_message().queue_url(&url).message_body("a").send().await?;
        let change = |m: Message, seconds| {
            self.sqs.change_message_visibility().queue_url(&url).set_receipt_handle(m.receipt_handle).visibility_timeout(seconds).send()
        };
        change(self.one(&url).await?, 0).await?;
        let again = self.one(&url).await?;
        let receives = again.attributes().and_then(|all| all.get(&MessageSystemAttributeName::ApproximateReceiveCount));
        equal(Some("2"), receives.map(String::as_str))?;
        change(again, 900).await?;
        equal(0, self.receive(&url, 0).await?.len())
    }

    async fn dead_letters(&self) -> Done {
        let dead = self.create("", &[]).await?;
        let arn = self.attribute(&dead, QueueAttributeName::QueueArn).await?;
        let policy = format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":1}}"#);
        let attributes = [(QueueAttributeName::VisibilityTimeout, "0"), (QueueAttributeName::RedrivePolicy, policy.as_str())];
        let url = self.create("", &attributes).await?;
        self.sqs.send_message().queue_url(&url).message_body("poison").send().await?;
        self.one(&url).await?;
        equal(0, self.receive(&url, 0).await?.len())?;
        equal("1", &self.attribute(&dead, QueueAttributeName::ApproximateNumberOfMessages).await?)?;
        let sources = self.sqs.list_dead_letter_source_queues().queue_url(&dead).send().await?;
        equal(vec![url.clone()], sources.queue_urls().to_vec())?;
        self.sqs.start_message_move_task().source_arn(&arn).send().await?;
        equal(Some("poison"), self.one(&url).await?.body())
    }

    async fn fifo(&self) -> Done {
        let attributes = [(QueueAttributeName::FifoQueue, "true"), (QueueAttributeName::ContentBasedDeduplication, "true")];
        let url = self.create(".fifo", &attributes).await?;
        for i in 0..5 {
            for _ in 0..2 {
                // the second is a duplicate
                self.sqs.send_message().queue_url(&url).message_body(i.to_string()).message_group_id("g").send().await?;
            }
        }
        let mut order = Vec::new();
        while order.len() < 5 {
            for m in self.receive(&url, 10).await? {
                order.push(m.body().unwrap_or_default().to_string());
                self.remove(&url, &m).await?;
            }
        }
        equal(vec!["0", "1", "2", "3", "4"], order.iter().map(String::as_str).collect())
    }

    async fn long_poll(&self) -> Done {
        let url = self.create("", &[]).await?;
        let send = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            self.sqs.send_message().queue_url(&url).message_body("late").send().await
        };
        let (sent, got) = tokio::join!(send, self.one(&url));
        sent?;
        equal(Some("late"), got?.body())
    }

    async fn errors(&self) -> Done {
        let missing = self.sqs.get_queue_url().queue_name("nowhere").send().await.unwrap_err().into_service_error();
        equal(true, matches!(missing, GetQueueUrlError::QueueDoesNotExist(_)))?;
        let url = self.create("", &[]).await?;
        let invalid = self.sqs.delete_message().queue_url(&url).receipt_handle("x").send().await.unwrap_err().into_service_error();
        equal(true, invalid.is_receipt_handle_is_invalid())?;
        let value = self.sqs.set_queue_attributes().queue_url(&url).attributes(QueueAttributeName::DelaySeconds, "901").send().await;
        equal(Some("InvalidAttributeValue"), value.unwrap_err().into_service_error().code())
    }
}
